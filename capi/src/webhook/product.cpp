// Products and product groups.
#include "billcore/product.h"

#include "shared/convert.hpp"
#include "shared/handles.hpp"
#include "shared/resource.hpp"

using billcore::Product;
using billcore::ProductGroup;
using namespace billcore::capi;

billcore_status billcore_product_id(const billcore_product* product, int64_t* out, billcore_error** err) {
  return get(product, &Product::id, out, err);
}

billcore_status billcore_product_name(const billcore_product* product, billcore_str* out, billcore_error** err) {
  return get(product, &Product::name, out, err);
}

billcore_status billcore_product_description(const billcore_product* product, billcore_str* out, bool* present,
                                             billcore_error** err) {
  return get(product, &Product::description, out, present, err);
}

billcore_status billcore_product_type(const billcore_product* product, billcore_str* out, billcore_error** err) {
  return get(product, &Product::type, out, err);
}

billcore_status billcore_product_price(const billcore_product* product, int64_t* out, billcore_error** err) {
  return get(product, &Product::price, out, err);
}

billcore_status billcore_product_price_with_vat(const billcore_product* product, int64_t* out, billcore_error** err) {
  return get(product, &Product::price_with_vat, out, err);
}

billcore_status billcore_product_price_without_vat(const billcore_product* product, int64_t* out,
                                                   billcore_error** err) {
  return get(product, &Product::price_without_vat, out, err);
}

billcore_status billcore_product_currency(const billcore_product* product, billcore_str* out, billcore_error** err) {
  return get(product, &Product::currency, out, err);
}

billcore_status billcore_product_vat_rate(const billcore_product* product, billcore_str* out, billcore_error** err) {
  return get(
      product, [&](const Product& view) { return product->digits.of(view.vat_rate()); }, out, err);
}

billcore_status billcore_product_interval(const billcore_product* product, billcore_str* out, bool* present,
                                          billcore_error** err) {
  return get(product, &Product::interval, out, present, err);
}

billcore_status billcore_product_image(const billcore_product* product, billcore_str* out, bool* present,
                                       billcore_error** err) {
  return get(product, &Product::image, out, present, err);
}

billcore_status billcore_product_images(const billcore_product* product, size_t* count, billcore_error** err) {
  return get_count(product, &Product::images, count, err);
}

billcore_status billcore_product_image_portrait(const billcore_product* product, size_t index, billcore_str* out,
                                                billcore_error** err) {
  return get(
      product, [&](const Product& view) { return item_at(view.images(), index).portrait().src(); }, out, err);
}

billcore_status billcore_product_image_square(const billcore_product* product, size_t index, billcore_str* out,
                                              billcore_error** err) {
  return get(
      product, [&](const Product& view) { return item_at(view.images(), index).square().src(); }, out, err);
}

billcore_status billcore_product_use_cart(const billcore_product* product, bool* out, billcore_error** err) {
  return get(product, &Product::use_cart, out, err);
}

billcore_status billcore_product_stock_tracking(const billcore_product* product, bool* out, billcore_error** err) {
  return get(product, &Product::stock_tracking, out, err);
}

billcore_status billcore_product_out_of_stock(const billcore_product* product, bool* out, billcore_error** err) {
  return get(product, &Product::out_of_stock, out, err);
}

billcore_status billcore_product_strings(const billcore_product* product, billcore_value** out, billcore_error** err) {
  return get_new(
      product, [](const Product& view) { return view.strings().value(); }, out, err);
}

billcore_status billcore_product_strings_interval(const billcore_product* product, billcore_str* out,
                                                  billcore_error** err) {
  return get(
      product, [](const Product& view) { return view.strings().interval(); }, out, err);
}

billcore_status billcore_product_strings_type(const billcore_product* product, billcore_str* out,
                                              billcore_error** err) {
  return get(
      product, [](const Product& view) { return view.strings().type(); }, out, err);
}

billcore_status billcore_product_strings_price(const billcore_product* product, billcore_str* out, bool* present,
                                               billcore_error** err) {
  return get(
      product, [](const Product& view) { return view.strings().price(); }, out, present, err);
}

billcore_status billcore_product_strings_price_with_vat(const billcore_product* product, billcore_str* out,
                                                        bool* present, billcore_error** err) {
  return get(
      product, [](const Product& view) { return view.strings().price_with_vat(); }, out, present, err);
}

billcore_status billcore_product_strings_price_without_vat(const billcore_product* product, billcore_str* out,
                                                           bool* present, billcore_error** err) {
  return get(
      product, [](const Product& view) { return view.strings().price_without_vat(); }, out, present, err);
}

billcore_status billcore_product_raw(const billcore_product* product, billcore_str* out, billcore_error** err) {
  return get(product, &Product::raw, out, err);
}

billcore_status billcore_product_value(const billcore_product* product, billcore_value** out, billcore_error** err) {
  return get_value(product, out, err);
}

billcore_status billcore_product_field(const billcore_product* product, billcore_str name, billcore_value** out,
                                       bool* present, billcore_error** err) {
  return get_field(product, name, out, present, err);
}

billcore_status billcore_product_contains(const billcore_product* product, billcore_str name, bool* out,
                                          billcore_error** err) {
  return get_contains(product, name, out, err);
}

billcore_status billcore_product_equal(const billcore_product* product, const billcore_product* other, bool* out,
                                       billcore_error** err) {
  return get_equal(product, other, out, err);
}

billcore_status billcore_product_response_info(const billcore_product* product, billcore_response_info** out,
                                               bool* present, billcore_error** err) {
  return get_info(product, out, present, err);
}

billcore_status billcore_product_copy(const billcore_product* product, billcore_product** out, billcore_error** err) {
  return get_copy(product, out, err);
}

void billcore_product_free(billcore_product* product) { delete product; }

billcore_status billcore_product_group_id(const billcore_product_group* group, int64_t* out, billcore_error** err) {
  return get(group, &ProductGroup::id, out, err);
}

billcore_status billcore_product_group_name(const billcore_product_group* group, billcore_str* out,
                                            billcore_error** err) {
  return get(group, &ProductGroup::name, out, err);
}

billcore_status billcore_product_group_products(const billcore_product_group* group, size_t* count,
                                                billcore_error** err) {
  return get_count(group, &ProductGroup::products, count, err);
}

billcore_status billcore_product_group_product_at(const billcore_product_group* group, size_t index, int64_t* out,
                                                  billcore_error** err) {
  return get(
      group, [&](const ProductGroup& view) { return item_at(view.products(), index); }, out, err);
}

billcore_status billcore_product_group_raw(const billcore_product_group* group, billcore_str* out,
                                           billcore_error** err) {
  return get(group, &ProductGroup::raw, out, err);
}

billcore_status billcore_product_group_value(const billcore_product_group* group, billcore_value** out,
                                             billcore_error** err) {
  return get_value(group, out, err);
}

billcore_status billcore_product_group_field(const billcore_product_group* group, billcore_str name,
                                             billcore_value** out, bool* present, billcore_error** err) {
  return get_field(group, name, out, present, err);
}

billcore_status billcore_product_group_contains(const billcore_product_group* group, billcore_str name, bool* out,
                                                billcore_error** err) {
  return get_contains(group, name, out, err);
}

billcore_status billcore_product_group_equal(const billcore_product_group* group, const billcore_product_group* other,
                                             bool* out, billcore_error** err) {
  return get_equal(group, other, out, err);
}

billcore_status billcore_product_group_response_info(const billcore_product_group* group, billcore_response_info** out,
                                                     bool* present, billcore_error** err) {
  return get_info(group, out, present, err);
}

billcore_status billcore_product_group_copy(const billcore_product_group* group, billcore_product_group** out,
                                            billcore_error** err) {
  return get_copy(group, out, err);
}

void billcore_product_group_free(billcore_product_group* group) { delete group; }
