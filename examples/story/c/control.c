#include "control.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

billcore_client* keyless_client(const char* url, billcore_str header, billcore_str value) {
  billcore_error* err = NULL;
  billcore_client_options* options = NULL;
  billcore_client* client = NULL;
  must(billcore_client_options_new(&options, &err), &err);
  must(billcore_client_options_set_base_url(options, billcore_str_from(url), &err), &err);
  must(billcore_client_options_set_api_key(options, BILLCORE_STR("none"), &err), &err);
  if (header.len > 0) must(billcore_client_options_add_header(options, header, value, &err), &err);
  must(billcore_client_new(options, &client, &err), &err);
  billcore_client_options_free(options);
  return client;
}

static void post(const billcore_client* control, const char* path, billcore_str json) {
  billcore_error* err = NULL;
  billcore_request_options* options = NULL;
  billcore_response* response = NULL;
  must(billcore_request_options_new(&options, &err), &err);
  must(billcore_request_options_set_json(options, json, &err), &err);
  must(billcore_client_request(control, BILLCORE_STR("POST"), billcore_str_from(path), options, NULL, &response, &err),
       &err);
  billcore_request_options_free(options);
  billcore_response_free(response);
}

/* Sends a GET request and returns the array `name` of the answer. */
static billcore_value* get_array(const billcore_client* control, const char* path, const char* name) {
  billcore_error* err = NULL;
  billcore_response* response = NULL;
  billcore_value* answer = NULL;
  billcore_value* array = NULL;
  bool present = false;
  must(billcore_client_request(control, BILLCORE_STR("GET"), billcore_str_from(path), NULL, NULL, &response, &err),
       &err);
  must(billcore_response_json(response, &answer, &err), &err);
  must(billcore_value_find(answer, billcore_str_from(name), &array, &present, &err), &err);
  expect(present, "the control route's answer has the requested array");
  billcore_value_free(answer);
  billcore_response_free(response);
  return array;
}

/* Returns the member `name` of the array's item `index`, and sets *text to its text. Free the result only when
 * *text is no longer needed: the text belongs to the result. */
static billcore_value* text_at(const billcore_value* array, size_t index, const char* name, billcore_str* text) {
  billcore_error* err = NULL;
  billcore_value* item = NULL;
  billcore_value* member = NULL;
  bool present = false;
  must(billcore_value_at(array, index, &item, &err), &err);
  must(billcore_value_find(item, billcore_str_from(name), &member, &present, &err), &err);
  expect(present, "the items of the control route's answer are complete");
  must(billcore_value_text(member, text, &err), &err);
  billcore_value_free(item);
  return member;
}

static size_t size_of(const billcore_value* array) {
  billcore_error* err = NULL;
  size_t size = 0;
  must(billcore_value_count(array, &size, &err), &err);
  return size;
}

void control_reset(const billcore_client* control) { post(control, "/reset", BILLCORE_STR("{}")); }

void control_renew(const billcore_client* control, billcore_str subscription) {
  char path[128];
  snprintf(path, sizeof path, "/subscriptions/%s/renew", subscription.data);
  post(control, path, BILLCORE_STR("{}"));
}

void control_lose_the_next_charge_answer(const billcore_client* control) {
  post(control, "/faults",
       BILLCORE_STR("{\"kind\": \"reset_after\", \"method\": \"POST\", \"path\": \"/subscription/*/order\"}"));
}

void control_endpoint_secret(const billcore_client* control, const char* url, char secret[33]) {
  billcore_value* endpoints = get_array(control, "/endpoints", "endpoints");
  secret[0] = '\0';
  for (size_t i = 0; i < size_of(endpoints); ++i) {
    billcore_str text;
    billcore_value* its_url = text_at(endpoints, i, "url", &text);
    const bool found = is_text(text, url);
    billcore_value* its_secret = text_at(endpoints, i, "secret", &text);
    if (found && text.len == 32) memcpy(secret, text.data, 33);
    billcore_value_free(its_secret);
    billcore_value_free(its_url);
  }
  billcore_value_free(endpoints);
}

size_t control_effects(const billcore_client* control, const char* kind) {
  billcore_value* effects = get_array(control, "/ledger", "effects");
  size_t count = 0;
  for (size_t i = 0; i < size_of(effects); ++i) {
    billcore_str text;
    billcore_value* its_kind = text_at(effects, i, "kind", &text);
    if (is_text(text, kind)) ++count;
    billcore_value_free(its_kind);
  }
  billcore_value_free(effects);
  return count;
}
