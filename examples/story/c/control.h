/* Calls the sandbox's control routes, with which a test acts as the admin UI or a customer, lets time pass, and
 * causes failures. The routes are plain JSON over HTTP, so a billcore_client with the control URL as its base URL can
 * call them. */
#ifndef EXAMPLE_CONTROL_H
#define EXAMPLE_CONTROL_H

#include <billcore.h>

/* Makes a client for a URL that needs no API key. (A client always sends a key, so this client sends "none".)
 * The client sends `header` with every request unless `header` is {NULL, 0}. */
billcore_client* keyless_client(const char* url, billcore_str header, billcore_str value);

void control_reset(const billcore_client* control);
void control_renew(const billcore_client* control, billcore_str subscription);
/* Makes the sandbox perform the next charge but reset the connection instead of answering. */
void control_lose_the_next_charge_answer(const billcore_client* control);
/* Copies the signing secret of a registered webhook URL into `secret`, as a C string. The string is empty if the URL
 * is not registered or its secret does not have 32 characters. */
void control_endpoint_secret(const billcore_client* control, const char* url, char secret[33]);
/* Returns the number of effects of one kind in the sandbox's ledger. */
size_t control_effects(const billcore_client* control, const char* kind);

#endif
