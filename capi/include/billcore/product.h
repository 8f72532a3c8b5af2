/* Products and product groups. Conventions: billcore.h; what all resources share: billcore/resource.h. */
#ifndef BILLCORE_PRODUCT_H
#define BILLCORE_PRODUCT_H

#include "billcore/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A product. Freed with billcore_product_free. Texts live as long as it. Threads: immutable. Service interface:
 * Product. */
typedef struct billcore_product billcore_product;

/** Its id. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_id(const billcore_product* product, int64_t* out, billcore_error** err);

/** Its name. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_name(const billcore_product* product, billcore_str* out,
                                                   billcore_error** err);

/** Its description. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_description(const billcore_product* product, billcore_str* out,
                                                          bool* present, billcore_error** err);

/** Short name of the product type. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_type(const billcore_product* product, billcore_str* out,
                                                   billcore_error** err);

/** Cents; whether VAT is in it depends on the product. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_price(const billcore_product* product, int64_t* out,
                                                    billcore_error** err);

/** Cents, with VAT. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_price_with_vat(const billcore_product* product, int64_t* out,
                                                             billcore_error** err);

/** Cents, without VAT. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_price_without_vat(const billcore_product* product, int64_t* out,
                                                                billcore_error** err);

/** Currency code. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_currency(const billcore_product* product, billcore_str* out,
                                                       billcore_error** err);

/** Percent, in the digits received, such as "25" or "12.50": a decimal, not a float. Service interface: Product.
 *  @since 0.1 */
BILLCORE_API billcore_status billcore_product_vat_rate(const billcore_product* product, billcore_str* out,
                                                       billcore_error** err);

/** Billing interval. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_interval(const billcore_product* product, billcore_str* out,
                                                       bool* present, billcore_error** err);

/** URL of its image. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_image(const billcore_product* product, billcore_str* out, bool* present,
                                                    billcore_error** err);

/** Number of its images. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_images(const billcore_product* product, size_t* count,
                                                     billcore_error** err);

/** `src` of the portrait rendition of image `index`, from 0; BILLCORE_INVALID_ARGUMENT beyond the last. Service
 *  interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_image_portrait(const billcore_product* product, size_t index,
                                                             billcore_str* out, billcore_error** err);

/** `src` of the square rendition of image `index`, from 0; BILLCORE_INVALID_ARGUMENT beyond the last. Service
 *  interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_image_square(const billcore_product* product, size_t index,
                                                           billcore_str* out, billcore_error** err);

/** The field of that name. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_use_cart(const billcore_product* product, bool* out,
                                                       billcore_error** err);

/** The field of that name. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_stock_tracking(const billcore_product* product, bool* out,
                                                             billcore_error** err);

/** The field of that name. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_out_of_stock(const billcore_product* product, bool* out,
                                                           billcore_error** err);

/** The display strings as plain JSON; typed ones below. New; free it. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_strings(const billcore_product* product, billcore_value** out,
                                                      billcore_error** err);

/** `strings.interval`, for display. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_strings_interval(const billcore_product* product, billcore_str* out,
                                                               billcore_error** err);

/** `strings.type`, for display. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_strings_type(const billcore_product* product, billcore_str* out,
                                                           billcore_error** err);

/** `strings.price`, for display. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_strings_price(const billcore_product* product, billcore_str* out,
                                                            bool* present, billcore_error** err);

/** `strings.price_with_vat`, for display. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_strings_price_with_vat(const billcore_product* product, billcore_str* out,
                                                                     bool* present, billcore_error** err);

/** `strings.price_without_vat`, for display. Service interface: Product.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_strings_price_without_vat(const billcore_product* product,
                                                                        billcore_str* out, bool* present,
                                                                        billcore_error** err);

/** The JSON text as received, a slice.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_raw(const billcore_product* product, billcore_str* out,
                                                  billcore_error** err);

/** The whole as plain JSON, to read or iterate. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_value(const billcore_product* product, billcore_value** out,
                                                    billcore_error** err);

/** Any field by its name, also one this library does not know. *present is true also when it is null; without it *out
 *  is NULL. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_field(const billcore_product* product, billcore_str name,
                                                    billcore_value** out, bool* present, billcore_error** err);

/** Is there a field of this name, null or not?  @since 0.1 */
BILLCORE_API billcore_status billcore_product_contains(const billcore_product* product, billcore_str name, bool* out,
                                                       billcore_error** err);

/** The same JSON?  @since 0.1 */
BILLCORE_API billcore_status billcore_product_equal(const billcore_product* product, const billcore_product* other,
                                                    bool* out, billcore_error** err);

/** The answer it came with; not present for a part of an event. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_response_info(const billcore_product* product,
                                                            billcore_response_info** out, bool* present,
                                                            billcore_error** err);

/** A detached copy, which keeps only its own text alive. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_copy(const billcore_product* product, billcore_product** out,
                                                   billcore_error** err);

/** Frees a product; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_product_free(billcore_product* product);

/** A product group; comes in events only. Freed with billcore_product_group_free. Texts live as long as it. Threads:
 * immutable. Service interface: Product group. */
typedef struct billcore_product_group billcore_product_group;

/** Its id. Service interface: Product group.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_group_id(const billcore_product_group* group, int64_t* out,
                                                       billcore_error** err);

/** Its name. Service interface: Product group.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_group_name(const billcore_product_group* group, billcore_str* out,
                                                         billcore_error** err);

/** Number of its product ids. Service interface: Product group.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_group_products(const billcore_product_group* group, size_t* count,
                                                             billcore_error** err);

/** Product id `index`, from 0; BILLCORE_INVALID_ARGUMENT beyond the last. Service interface: Product group.
 *  @since 0.1 */
BILLCORE_API billcore_status billcore_product_group_product_at(const billcore_product_group* group, size_t index,
                                                               int64_t* out, billcore_error** err);

/** The JSON text as received, a slice.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_group_raw(const billcore_product_group* group, billcore_str* out,
                                                        billcore_error** err);

/** The whole as plain JSON, to read or iterate. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_group_value(const billcore_product_group* group, billcore_value** out,
                                                          billcore_error** err);

/** Any field by its name, also one this library does not know. *present is true also when it is null; without it *out
 *  is NULL. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_group_field(const billcore_product_group* group, billcore_str name,
                                                          billcore_value** out, bool* present, billcore_error** err);

/** Is there a field of this name, null or not?  @since 0.1 */
BILLCORE_API billcore_status billcore_product_group_contains(const billcore_product_group* group, billcore_str name,
                                                             bool* out, billcore_error** err);

/** The same JSON?  @since 0.1 */
BILLCORE_API billcore_status billcore_product_group_equal(const billcore_product_group* group,
                                                          const billcore_product_group* other, bool* out,
                                                          billcore_error** err);

/** The answer it came with; not present for a part of an event. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_group_response_info(const billcore_product_group* group,
                                                                  billcore_response_info** out, bool* present,
                                                                  billcore_error** err);

/** A detached copy, which keeps only its own text alive. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_group_copy(const billcore_product_group* group,
                                                         billcore_product_group** out, billcore_error** err);

/** Frees a product group; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_product_group_free(billcore_product_group* group);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_PRODUCT_H */
