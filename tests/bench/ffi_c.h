/* The operations of a C program through the C ABI, for the tables of ffi and pages. */
#ifndef FFI_C_H
#define FFI_C_H

#include <billcore.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each function returns the sum of the values and lengths that it has read; 0 if an operation fails. */
size_t ffi_call(size_t count);
size_t ffi_verify(const billcore_verifier* verifier, billcore_str body, billcore_str signature, size_t count);
size_t ffi_unwrap(const billcore_verifier* verifier, billcore_str body, billcore_str signature, size_t count);
/* Reads three fields of each order of a list. */
size_t ffi_list(const billcore_client* client, const char* subscription);

#ifdef __cplusplus
}
#endif

#endif
