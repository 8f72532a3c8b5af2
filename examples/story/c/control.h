/* The sandbox's control routes: in tests they act as the service's other side (its admin UI, customers, time,
 * failures). They are plain JSON over HTTP, so a billcore_client with the control URL as its base URL can call them. */
#ifndef EXAMPLE_CONTROL_H
#define EXAMPLE_CONTROL_H

#include <billcore.h>

/* A client for a URL that needs no key (a client always sends one). header: sent with every request, or {NULL, 0}. */
billcore_client* keyless_client(const char* url, billcore_str header, billcore_str value);

void control_reset(const billcore_client* control);
void control_renew(const billcore_client* control, billcore_str subscription);
/* The next charge is made, but its connection is reset instead of an answer. */
void control_lose_the_next_charge_answer(const billcore_client* control);
/* Copies the secret of a registered URL, as a C string; empty when there is none, or it does not have 32 characters. */
void control_endpoint_secret(const billcore_client* control, const char* url, char secret[33]);
/* Number of effects of a kind in the service's ledger. */
size_t control_effects(const billcore_client* control, const char* kind);

#endif
