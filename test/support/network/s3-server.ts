// A small S3 server with one bucket in memory, conditional writes, ranges and fault injection. It
// implements Signature Version 4 independently of the client.
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { startLocally } from './local-server.ts';

export const s3Credentials = {
  accessKeyId: 'AKIDOFTHETESTS',
  secretAccessKey: 'secretOfTheTests/+x',
};
export const s3Bucket = 'signage';

/** The answer that replaces the regular one: a response, none, or an incomplete one. */
type Fault =
  | { status: number; body?: string | Buffer; headers?: Record<string, string> }
  | 'silent'
  | 'reset'
  | 'cut off';

export interface S3Server {
  /** `http://127.0.0.1:<port>`. */
  readonly endpoint: string;
  readonly port: number;
  /** Contents by key. */
  readonly objects: Map<string, Buffer>;
  /** Method and key of each request, in order. */
  readonly requests: string[];
  /** Called for each request before anything else. */
  fault: (request: {
    method: string;
    key: string;
  }) => Fault | undefined | Promise<Fault | undefined>;
  /** If false, conditional writes get 501, as with Backblaze. */
  supportsConditions: boolean;
  /** Maximum number of keys in a page of a list. */
  pageSize: number;
  close(): Promise<void>;
}

const hex = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, text: string) =>
  createHmac('sha256', key).update(text).digest();
const etagOf = (bytes: Buffer) => `"${createHash('md5').update(bytes).digest('hex')}"`;
const encode = (text: string) =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
const xml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** Returns the signature given and the one computed, or `undefined` for an unsigned request. */
function signatureOf(
  request: IncomingMessage,
  body: Buffer,
): { given: string; computed: string } | undefined {
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? '',
    );
  if (!found || found[1] !== s3Credentials.accessKeyId) return undefined;
  const [, , scope = '', names = '', given = ''] = found;
  const url = new URL(request.url ?? '', 'http://host');
  const query = [...url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort();
  const headers = names
    .split(';')
    .map((name) => `${name}:${String(request.headers[name]).trim()}\n`);
  const path = url.pathname.split('/').map((part) => encode(decodeURIComponent(part)));
  const contents = String(request.headers['x-amz-content-sha256']);
  const canonical = [
    request.method,
    path.join('/'),
    query.join('&'),
    headers.join(''),
    names,
    contents,
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, hex(canonical)].join(
    '\n',
  );
  const key = scope
    .split('/')
    .reduce<string | Buffer>(
      (last, part) => hmac(last, part),
      `AWS4${s3Credentials.secretAccessKey}`,
    );
  return {
    given,
    computed: [hex(body), 'UNSIGNED-PAYLOAD'].includes(contents)
      ? hmac(key, text).toString('hex')
      : 'the content hash differs',
  };
}

function reply(
  response: ServerResponse,
  status: number,
  body: string | Buffer = '',
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers }).end(body);
}

function sendError(response: ServerResponse, status: number, code: string): void {
  reply(
    response,
    status,
    `<?xml version="1.0"?><Error><Code>${code}</Code><Message>No.</Message></Error>`,
    {
      'content-type': 'application/xml',
    },
  );
}

function injectFault(response: ServerResponse, fault: Fault): void {
  if (fault === 'silent') return;
  if (fault === 'reset') response.destroy();
  else if (fault === 'cut off') {
    response.writeHead(200, { etag: '"cut"', 'content-length': 1000 });
    response.write('{"format":1,');
    setImmediate(() => response.destroy());
  } else reply(response, fault.status, fault.body, fault.headers);
}

function list(server: S3Server, query: URLSearchParams, response: ServerResponse): void {
  const prefix = query.get('prefix') ?? '';
  const after = query.get('continuation-token');
  const keys = [...server.objects.keys()].filter((key) => key.startsWith(prefix)).sort();
  const rest =
    after === null ? keys : keys.filter((key) => key > Buffer.from(after, 'base64').toString());
  const page = rest.slice(0, server.pageSize);
  const delimiter = query.get('delimiter');
  /** Returns the common prefix of a key, or `undefined` if it has none. */
  const commonOf = (key: string) => {
    const end = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length);
    return end < 0 ? undefined : key.slice(0, end + 1);
  };
  const common = [...new Set(page.flatMap((key) => commonOf(key) ?? []))].map(
    (one) => `<CommonPrefixes><Prefix>${xml(one)}</Prefix></CommonPrefixes>`,
  );
  const next =
    rest.length > page.length ? Buffer.from(page.at(-1) ?? '').toString('base64') : undefined;
  const single = page.filter((key) => commonOf(key) === undefined);
  const contents = single.map(
    (key) =>
      `<Contents><Key>${xml(key)}</Key><ETag>${xml(etagOf(server.objects.get(key) ?? Buffer.of()))}</ETag></Contents>`,
  );
  const more = `<IsTruncated>${next !== undefined}</IsTruncated>${next === undefined ? '' : `<NextContinuationToken>${next}</NextContinuationToken>`}`;
  const body = `<?xml version="1.0"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${more}${contents.join('')}${common.join('')}</ListBucketResult>`;
  reply(response, 200, body, { 'content-type': 'application/xml' });
}

function conditionError(
  server: S3Server,
  { headers }: IncomingMessage,
  before: Buffer | undefined,
): [number, string] | undefined {
  const [wanted, none] = [headers['if-match'], headers['if-none-match']];
  if (!server.supportsConditions && (wanted ?? none) !== undefined) return [501, 'NotImplemented'];
  if (none === '*' && before !== undefined) return [412, 'PreconditionFailed'];
  if (wanted !== undefined && before === undefined) return [404, 'NoSuchKey'];
  return wanted !== undefined && wanted !== etagOf(before ?? Buffer.of())
    ? [412, 'PreconditionFailed']
    : undefined;
}

function put(
  server: S3Server,
  key: string,
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): void {
  const error = conditionError(server, request, server.objects.get(key));
  if (error) sendError(response, ...error);
  else {
    server.objects.set(key, body);
    reply(response, 200, '', { etag: etagOf(body) });
  }
}

function get({ headers, method }: IncomingMessage, bytes: Buffer, response: ServerResponse): void {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
  const body = first === undefined ? bytes : bytes.subarray(Number(first), Number(last) + 1);
  response.writeHead(first === undefined ? 200 : 206, {
    etag: etagOf(bytes),
    'content-length': body.length,
    'last-modified': new Date().toUTCString(),
  });
  response.end(method === 'HEAD' ? undefined : body);
}

/** Returns the body, or `undefined` if the client has cut it off. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}

/** Returns the key, or `undefined` for another bucket. */
function keyOf({ pathname }: URL): string | undefined {
  const path = decodeURIComponent(pathname.slice(1));
  return path === s3Bucket || path.startsWith(`${s3Bucket}/`)
    ? path.slice(s3Bucket.length + 1)
    : undefined;
}

/** Starts the server on a free port. It is closed after the tests of the file. */
export async function startS3Server(): Promise<S3Server> {
  const http = createServer(async (request, response) => {
    const body = await bodyOf(request);
    if (!body) return;
    const url = new URL(request.url ?? '', 'http://host');
    const method = request.method ?? '';
    const key = keyOf(url);
    server.requests.push(`${method} ${key ?? '?'}`);
    const fault = await server.fault({ method, key: key ?? '' });
    if (fault) return injectFault(response, fault);
    const signature = signatureOf(request, body);
    if (signature?.given !== signature?.computed || !signature)
      return sendError(response, 403, 'SignatureDoesNotMatch');
    if (key === undefined) return sendError(response, 404, 'NoSuchBucket');
    if (method === 'GET' && key === '') return list(server, url.searchParams, response);
    if (method === 'PUT') return put(server, key, request, body, response);
    const bytes = server.objects.get(key);
    if (method === 'DELETE') {
      server.objects.delete(key);
      return reply(response, 204);
    }
    if (bytes === undefined) return sendError(response, 404, 'NoSuchKey');
    const isBehind = Number(/^bytes=(\d+)/.exec(request.headers.range ?? '')?.[1]) >= bytes.length;
    if (isBehind) return sendError(response, 416, 'InvalidRange');
    get(request, bytes, response);
  });
  const { url: endpoint, close } = await startLocally(http);
  const server: S3Server = {
    endpoint,
    port: Number(new URL(endpoint).port),
    objects: new Map(),
    requests: [],
    fault: () => undefined,
    supportsConditions: true,
    pageSize: 1000,
    close,
  };
  return server;
}
