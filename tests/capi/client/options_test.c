/* Tests setting options and queries by name, as the bindings of other languages do: which values are refused, and by
 * which call. */
#include "support/check.h"

static billcore_options* options_of(billcore_options_kind kind) {
  billcore_options* out = NULL;
  CHECK_OK(billcore_options_new(kind, &out, &err));
  return out;
}

static void test_names(void) {
  billcore_options* out = NULL;
  CHECK_INVALID(billcore_options_new(0, &out, &err), "kind must be");
  CHECK_INVALID(billcore_options_new(9, &out, &err), "kind must be");
  CHECK(out == NULL);
  for (billcore_options_kind kind = BILLCORE_OPTIONS_OF_CLIENT; kind <= BILLCORE_OPTIONS_OF_CHARGE_SEARCH; ++kind) {
    billcore_options* it = options_of(kind);
    if (kind != BILLCORE_OPTIONS_OF_PRODUCT) { /* for a product, any field name is accepted */
      CHECK_INVALID(billcore_options_set_text(it, BILLCORE_STR("nothing"), BILLCORE_STR("x"), &err),
                    "no such option of this type: 'nothing'");
      CHECK_INVALID(billcore_options_set_int64(it, BILLCORE_STR("nothing"), 1, &err), "nothing");
    }
    CHECK_INVALID(billcore_options_set_bool(it, BILLCORE_STR("nothing"), true, &err), "nothing");
    CHECK_INVALID(billcore_options_add(it, BILLCORE_STR("nothing"), BILLCORE_STR("a"), BILLCORE_STR("b"), &err),
                  "nothing");
    const bool asks = kind == BILLCORE_OPTIONS_OF_CLIENT || kind == BILLCORE_OPTIONS_OF_CALL;
    if (kind != BILLCORE_OPTIONS_OF_CALL) {
      CHECK_INVALID(billcore_options_set_cancel(it, NULL, &err), "only the options of a call");
    }
    if (!asks && kind != BILLCORE_OPTIONS_OF_CHANGES) {
      CHECK_INVALID(billcore_options_set_hook(it, NULL, NULL, NULL, &err), "of a client, of");
    }
    if (!asks) {
      CHECK_INVALID(billcore_options_set_interrupt(it, NULL, NULL, NULL, &err), "only the options of");
    }
    billcore_options_free(it);
  }
}

static void release(void* context) { ++*(int*)context; }
static bool never(void* context) {
  (void)context;
  return false;
}
static void unhooked(void* context, const billcore_attempt* attempt) {
  (void)context;
  (void)attempt;
}

/* The context of a callback is released once: when its options are freed, when another context replaces it, or when a
 * setter refuses it. */
static void test_contexts_are_released(void) {
  int first = 0, second = 0, refused = 0;
  for (billcore_options_kind kind = BILLCORE_OPTIONS_OF_CLIENT; kind <= BILLCORE_OPTIONS_OF_CALL; ++kind) {
    billcore_options* it = options_of(kind);
    first = second = 0;
    CHECK_OK(billcore_options_set_hook(it, unhooked, &first, release, &err));
    CHECK_OK(billcore_options_set_hook(it, unhooked, &second, release, &err));
    CHECK(first == 1 && second == 0);
    if (kind != BILLCORE_OPTIONS_OF_CHANGES) {
      CHECK_OK(billcore_options_set_interrupt(it, never, &first, release, &err));
      CHECK_OK(billcore_options_set_interrupt(it, NULL, NULL, NULL, &err));
      CHECK(first == 2);
    }
    billcore_options_free(it);
    CHECK(second == 1);
  }
  billcore_options* list = options_of(BILLCORE_OPTIONS_OF_LIST);
  CHECK_INVALID(billcore_options_set_hook(list, unhooked, &refused, release, &err), "only");
  CHECK_INVALID(billcore_options_set_interrupt(NULL, never, &refused, release, &err), "");
  billcore_options* call = options_of(BILLCORE_OPTIONS_OF_CALL);
  CHECK_OK(billcore_options_set_hook(call, NULL, &refused, release, &err));
  CHECK(refused == 3);
  billcore_options_free(list);
  billcore_options_free(call);
}

static void test_values(void) {
  billcore_options* client = options_of(BILLCORE_OPTIONS_OF_CLIENT);
  CHECK_INVALID(billcore_options_set_int64(client, BILLCORE_STR("max_retries"), INT64_C(4294967296), &err), "32 bits");
  CHECK_INVALID(billcore_options_set_int64(client, BILLCORE_STR("max_response"), -1, &err), "more than 0");
  CHECK_INVALID(billcore_options_set_bool(client, BILLCORE_STR("no_timeout"), false, &err), "takes true only");
  CHECK_INVALID(billcore_options_set_text(client, BILLCORE_STR("proxy"), BILLCORE_STR(""), &err), "no_proxy");
  CHECK_INVALID(billcore_options_set_text(client, BILLCORE_STR("timeout_ms"), BILLCORE_STR("5"), &err), "of this type");
  billcore_options_free(client);
  billcore_options* product = options_of(BILLCORE_OPTIONS_OF_PRODUCT);
  CHECK_INVALID(billcore_options_set_json(product, BILLCORE_STR("vat_rate"), BILLCORE_STR("\"25\""), &err),
                "not a JSON number");
  CHECK_INVALID(billcore_options_set_json(product, BILLCORE_STR("name"), BILLCORE_STR("{"), &err), "JSON");
  CHECK_OK(billcore_options_set_json(product, BILLCORE_STR("vat_rate"), BILLCORE_STR("null"), &err));
  billcore_options_free(product);
}

/* The binding of another language may pass options of the wrong kind; in C the types prevent this. */
static void test_other_kinds(void) {
  billcore_client_options* options = NULL;
  billcore_client* client = NULL;
  billcore_options* query = options_of(BILLCORE_OPTIONS_OF_LIST);
  billcore_order_list* orders = NULL;
  billcore_subscription* subscription = NULL;
  CHECK_OK(billcore_client_options_new(&options, &err));
  CHECK_OK(billcore_client_options_set_base_url(options, BILLCORE_STR("http://127.0.0.1:1/a"), &err));
  CHECK_OK(billcore_client_options_set_api_key(options, BILLCORE_STR("k"), &err));
  CHECK_OK(billcore_client_new(options, &client, &err));
  CHECK_INVALID(billcore_subscription_get(client, BILLCORE_STR("s"), (const billcore_call_options*)(const void*)options,
                                          &subscription, &err),
                "of another kind");
  CHECK_OK(billcore_options_set_text(query, BILLCORE_STR("reference_id"), BILLCORE_STR("r"), &err));
  CHECK_INVALID(billcore_subscription_orders_new(client, BILLCORE_STR("s"), (const billcore_order_query*)(void*)query,
                                                 NULL, &orders, &err),
                "subscriptions.orders has no argument 'reference_id'");
  CHECK(orders == NULL && subscription == NULL);
  billcore_options_free(query);
  billcore_client_free(client);
  billcore_client_options_free(options);
}

int main(void) {
  test_names();
  test_contexts_are_released();
  test_values();
  test_other_kinds();
  return 0;
}
