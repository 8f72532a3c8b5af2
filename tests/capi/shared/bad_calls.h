/* The handles and texts that the program written by make_bad_calls.py passes to functions. */
#ifndef BAD_CALLS_H
#define BAD_CALLS_H

#include <billcore.h>
#include <billcore/arrow.h>
#include <string.h>

typedef struct given {
  billcore_client* client;
  billcore_loop* loop;
  billcore_response* response;
  billcore_response_info* info;
  billcore_value* value;
  billcore_operation* operation;
  billcore_options* options;
  billcore_page* page;
  billcore_resource* resource;
  billcore_verifier* verifier;
  billcore_verifier_options* verifier_options;
  billcore_verifier_stream* stream;
  billcore_headers* headers;
} given;

enum { odd_count = 4 };
extern const billcore_str odd_texts[odd_count];
extern billcore_error* call_error;

#define SET(output) memset(&output, 0x55, sizeof output)
#define CHECK_ZERO(output) require_zero(&output, sizeof output)

/* Ends the test unless the function has refused its arguments with an error that contains `words`. */
void refused(const char* function, const char* words, billcore_status status);
void require_zero(const void* output, size_t size);
void call_all(const given* g);

#endif
