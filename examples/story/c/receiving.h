/* The steps of the example program that check the webhook receiver. */
#ifndef EXAMPLE_RECEIVING_H
#define EXAMPLE_RECEIVING_H

#include "inbox.h"

/* Waits for the events of all earlier steps, and checks their content. */
void receive_events(inbox* box, billcore_str subscription, const billcore_order* first, const billcore_order* second);
/* Sends an event with a wrong signature to the listener at `url`. */
void refuse_a_forgery(inbox* box, const char* url);

#endif
