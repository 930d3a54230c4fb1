import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { startLocally } from './local-server.ts';

export interface ReceivedMessage {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: messages of every shape.
  body: any;
}

/** Starts a receiver of webhooks. `answer` may be replaced at any time. Default: 204. */
export async function startReceiver() {
  const receiver = {
    url: '',
    received: [] as ReceivedMessage[],
    answer: (response: ServerResponse, _message: ReceivedMessage): void =>
      void response.writeHead(204).end(),
    /** Ids of the received messages, in order. */
    ids: () => receiver.received.map(({ headers }) => String(headers['webhook-id'])),
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const { url: path = '', headers } = request;
    const message = { path, headers, text, body: JSON.parse(text) };
    receiver.received.push(message);
    receiver.answer(response, message);
  });
  receiver.url = `${(await startLocally(server)).url}/hook`;
  return receiver;
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/**
 * Whether one of the signatures of a message was made with this secret. Written from the
 * specification of Standard Webhooks 1.0, independently of the service.
 */
export function isSignedBy({ headers, text }: ReceivedMessage, secret: string): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`;
  const expected = `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(expected);
}
