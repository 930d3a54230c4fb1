#!/usr/bin/env bash
# Exits with 0 if the service in this container answers /healthz with 200.
# The image has no curl. bash opens the connection itself, so no second Node starts. bash has no
# TLS: with SIGNAGE_TLS_CERT, Node makes the request.
# Reads the variables of `signage serve`. It cannot see flags.
host=${SIGNAGE_HOST:-127.0.0.1}
port=${SIGNAGE_PORT:-4100}
if [[ $host == 0.0.0.0 || $host == :: ]]; then host=127.0.0.1; fi

if [[ -n $SIGNAGE_TLS_CERT ]]; then
  # The certificate names the public host, not this address. The connection stays in the container.
  exec node -e '
    const [, host, port] = process.argv;
    const options = { host, port, path: "/healthz", rejectUnauthorized: false, timeout: 4000 };
    const request = require("node:https").get(options, ({ statusCode }) => {
      process.exit(statusCode === 200 ? 0 : 1);
    });
    request.on("timeout", () => request.destroy(new Error("no answer within 4 s")));
    request.on("error", ({ message }) => {
      console.error(message);
      process.exit(1);
    });
  ' "$host" "$port"
fi

exec 3<>"/dev/tcp/$host/$port" || exit 1
# A connection that closes early must end in 1, not in a signal.
trap '' PIPE
printf 'GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n' >&3 || exit 1
read -r -t 4 _ status _ <&3 || exit 1
[[ $status == 200 ]]
