/* Variables that the examples in the headers use without declaring them. */
#ifndef EXAMPLES_H
#define EXAMPLES_H

#include <billcore.h>
#include <inttypes.h>
#include <stdio.h>

typedef struct given {
  const billcore_client* client;
  billcore_str subscription_id;
  billcore_str order_id;
  const billcore_order* order;
  const billcore_value* value;
  const billcore_event* event;
  billcore_str body;
  billcore_str signature;
  billcore_str secret;
} given;

typedef struct example {
  const char* header;
  billcore_status (*run)(const given*);
} example;

/* The array ends with {NULL, NULL}. */
extern const example examples[];

/* Waits until the descriptor is readable. */
bool wait_until_readable(int descriptor);
/* A billcore_done. */
void print_order(void* context, billcore_ticket ticket, billcore_result* result, billcore_error* failure);

#define EXAMPLE(name) static billcore_status name(const given* given)
#define GIVEN                                                                                             \
  const billcore_client* client = given->client;                                                          \
  const billcore_str subscription_id = given->subscription_id, order_id = given->order_id;                \
  const billcore_order* order = given->order;                                                             \
  const billcore_value* value = given->value;                                                             \
  const billcore_event* event = given->event;                                                             \
  const billcore_str body = given->body, signature = given->signature, secret = given->secret;            \
  (void)client, (void)subscription_id, (void)order_id, (void)order, (void)value, (void)event, (void)body; \
  (void)signature, (void)secret

#endif
