// A bare node:http server that answers at once, as the baseline for floods.
import { createServer } from 'node:http';

const answer = (outgoing, status, body) =>
  outgoing.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
const server = createServer((incoming, outgoing) => {
  if (incoming.method === 'GET') return answer(outgoing, 200, '{"status":"ok"}');
  incoming.on('data', () => {});
  incoming.on('end', () => answer(outgoing, 202, '{"received":1}'));
});
server.listen(0, '127.0.0.1', () =>
  process.send({ url: `http://127.0.0.1:${server.address().port}` }),
);
process.on('disconnect', () => {
  server.close();
  server.closeAllConnections();
});
