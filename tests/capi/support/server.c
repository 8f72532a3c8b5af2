#define _POSIX_C_SOURCE 200809L

#include "server.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { max_held = 32 };

struct server {
  server_answer answer;
  int listener;
  int wake[2];
  char url[64];
  pthread_t thread;
  int held[max_held]; /* connections that stay open without an answer */
  int held_count;
};

/* Reads one request: the head, and a body of the length that Content-Length states. */
static void read_request(int connection, char* buffer, size_t room) {
  size_t have = 0;
  size_t want = 0;
  while (have + 1 < room && (want == 0 || have < want)) {
    const ssize_t count = read(connection, buffer + have, room - have - 1);
    if (count <= 0) break;
    have += (size_t)count;
    buffer[have] = '\0';
    const char* end = strstr(buffer, "\r\n\r\n");
    if (end == NULL) continue;
    const char* length = strstr(buffer, "Content-Length: ");
    want = (size_t)(end + 4 - buffer) + (length != NULL ? strtoul(length + 16, NULL, 10) : 0);
    if (have >= want) break;
  }
  buffer[have] = '\0';
}

static void serve(server* self, int connection) {
  char request[8192];
  read_request(connection, request, sizeof request);
  const char* answer = *request != '\0' ? self->answer(request) : "";
  if (answer == NULL && self->held_count < max_held) {
    self->held[self->held_count++] = connection;
    return;
  }
  for (size_t left = answer != NULL ? strlen(answer) : 0; left > 0;) {
    const ssize_t count = send(connection, answer + strlen(answer) - left, left, MSG_NOSIGNAL);
    if (count <= 0) break;
    left -= (size_t)count;
  }
  close(connection);
}

static void* run(void* given) {
  server* self = given;
  struct pollfd ready[2] = {{self->listener, POLLIN, 0}, {self->wake[0], POLLIN, 0}};
  while (poll(ready, 2, -1) >= 0 && ready[1].revents == 0) {
    if (ready[0].revents == 0) continue;
    const int connection = accept(self->listener, NULL, NULL);
    if (connection >= 0) serve(self, connection);
  }
  return NULL;
}

server* server_start(server_answer answer) {
  server* self = calloc(1, sizeof *self);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  self->answer = answer;
  self->listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(self->listener, (struct sockaddr*)&address, size) != 0 || listen(self->listener, 64) != 0 ||
      getsockname(self->listener, (struct sockaddr*)&address, &size) != 0 || pipe(self->wake) != 0) {
    perror("server");
    exit(1);
  }
  snprintf(self->url, sizeof self->url, "http://127.0.0.1:%d/acct", ntohs(address.sin_port));
  if (pthread_create(&self->thread, NULL, run, self) != 0) exit(1);
  return self;
}

const char* server_url(const server* self) { return self->url; }

void server_stop(server* self) {
  if (write(self->wake[1], "x", 1) != 1) exit(1);
  pthread_join(self->thread, NULL);
  for (int i = 0; i < self->held_count; ++i) close(self->held[i]);
  close(self->listener);
  close(self->wake[0]);
  close(self->wake[1]);
  free(self);
}
