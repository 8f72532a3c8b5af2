"""Settings of gunicorn for a program that charges."""

bind = "127.0.0.1:8000"
workers = 2
preload_app = True

# A call of the journal takes about 40 s at most: two reads of 10 s, and 20 s for the charge.
timeout = 60  # gunicorn kills a worker that works on one request for longer
graceful_timeout = 60  # after SIGTERM, gunicorn waits so long for requests in flight

control_socket_disable = True  # gunicorn 25.1 and newer
accesslog = "-"
access_log_format = "worker %(p)s: %(m)s %(U)s %(s)s"
