/* The sandbox's control routes: what the service's other side (its admin UI, customers, time, bad luck) does in tests.
 * They are plain JSON over HTTP, so that a billcore_client whose base URL is the control URL can speak to them. */
#ifndef EXAMPLE_CONTROL_H
#define EXAMPLE_CONTROL_H

#include <billcore.h>

/* A client of some URL that asks for no key (a client always sends one). header: sent with every request, or {NULL, 0}.
 */
billcore_client* keyless_client(const char* url, billcore_str header, billcore_str value);

void control_reset(const billcore_client* control);
void control_renew(const billcore_client* control, billcore_str subscription);
/* The next charge is made, but its connection is reset instead of an answer. */
void control_lose_the_next_charge_answer(const billcore_client* control);
/* Copies the secret of a registered URL, as a C string; empty when there is none, or it is no 32 characters. */
void control_endpoint_secret(const billcore_client* control, const char* url, char secret[33]);
/* How many effects of a kind the service's ledger holds. */
size_t control_effects(const billcore_client* control, const char* kind);

#endif
