/** One request, and the signal that aborts it. */
export interface RequestParts {
  method: string;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer> | null;
  signal: AbortSignal;
}

/** One response. The caller must read the body to its end or destroy it. */
export interface RequestReply {
  statusCode: number;
  headers: Record<string, string | string[] | undefined>;
  body: AsyncIterable<Uint8Array>;
}

/** Sends one request. Rejects with the error of the connection. */
export type Requester = (url: string, parts: RequestParts) => Promise<RequestReply>;

/** Makes a requester that trusts `certificates` (PEM) in place of the platform's own. */
export type MakeRequester = (certificates: readonly string[] | undefined) => Promise<Requester>;
