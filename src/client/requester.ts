/** What goes out, and what ends it. */
export interface RequestParts {
  method: string;
  headers: Record<string, string>;
  body: string | null;
  signal: AbortSignal;
}

/** What came back; the body is read to its end, or left by destroying it. */
interface RequestReply {
  statusCode: number;
  headers: Record<string, string | string[] | undefined>;
  body: AsyncIterable<Buffer>;
}

/** Sends one request over whatever connection it likes; rejects with the connection's own error. */
export type Requester = (url: string, parts: RequestParts) => Promise<RequestReply>;

/** Makes one; `certificates` (PEM) are trusted in place of Node's own. */
export type MakeRequester = (certificates: readonly string[] | undefined) => Promise<Requester>;
