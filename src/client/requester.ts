/** One request, and the signal that aborts it. */
export interface RequestParts {
  method: string;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer> | null;
  signal: AbortSignal;
}

/** One response. The caller must read the body to its end or destroy it. */
export interface RequestReply<Chunk extends Uint8Array = Buffer> {
  statusCode: number;
  headers: Record<string, string | string[] | undefined>;
  body: AsyncIterable<Chunk>;
}

/** Sends one request. Rejects with the error of the connection. */
export type Requester<Chunk extends Uint8Array = Buffer> = (
  url: string,
  parts: RequestParts,
) => Promise<RequestReply<Chunk>>;

/** Makes a requester that trusts `certificates` (PEM) in place of the platform's own. */
export type MakeRequester<Chunk extends Uint8Array = Buffer> = (
  certificates: readonly string[] | undefined,
) => Promise<Requester<Chunk>>;
