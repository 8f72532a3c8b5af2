/* The handles and texts that the program written by make_odd_texts.py passes to functions. */
#ifndef ODD_TEXTS_H
#define ODD_TEXTS_H

#include <billcore.h>

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
extern billcore_error* odd_error;

/* Ends the test unless the function has refused the invalid text with the right message. */
void refused(const char* function, const char* parameter, billcore_status status);
void call_all(const given* g);

#endif
