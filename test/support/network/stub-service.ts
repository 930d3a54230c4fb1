import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { startLocally } from './local-server.ts';

interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

type Answer = (response: ServerResponse, request: ReceivedRequest) => void;

/** Starts an HTTP server with fixed answers. It is closed after the tests of the file. */
export async function stubService(...answers: Answer[]) {
  const heard: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    heard.push({
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body,
    });
    const answer = stub.answers.length > 1 ? stub.answers.shift() : stub.answers[0];
    answer?.(response, heard.at(-1)!);
  });
  /** `heard`: all requests so far. `answers`: those of the next ones; the last one is repeated. */
  const stub = { ...(await startLocally(server)), heard, answers };
  return stub;
}

export type StubService = Awaited<ReturnType<typeof stubService>>;

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));

export const raw =
  (status: number, body: string | Buffer, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(status, headers).end(body);

export const problem = (
  status: number,
  code: string,
  detail: string,
  more: object = {},
  headers: Record<string, string> = {},
): Answer =>
  json(
    status,
    { type: 'about:blank', title: 'Title', status, detail, code, requestId: 'r', ...more },
    { 'content-type': 'application/problem+json', ...headers },
  );

/** Closes the connection without an answer. */
export const hangUp: Answer = (response) => void response.socket?.destroy();

/** Never answers. */
export const silence: Answer = () => {};
