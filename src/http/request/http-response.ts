import type { TwoPartBody } from '../../domain/json/two-part-body.ts';

/** A response, before an adapter sends it. */
export interface HttpResponse {
  status: number;
  /** All headers but `Content-Type`. */
  headers: Readonly<Record<string, string>>;
  /** Content type of the body, if there is one. */
  type: string;
  body: string | Uint8Array | TwoPartBody | ReadableStream | null;
}

/** Receives the answer of a request, once. */
export interface ResponseReceiver {
  send(answer: HttpResponse): void;
  fail(error: unknown): void;
}

/**
 * An answer that comes after a wait. It is not a promise, because each caller up to the connection
 * would await the promise. That would take more memory than the rest of a held request.
 */
export interface HeldResponse {
  /**
   * Begins the wait. Returns a function that ends the wait early. That function returns whether the
   * wait was still in progress.
   */
  hold(receiver: ResponseReceiver): () => boolean;
}

/**
 * Status in log and metrics of a held request whose client disconnected. nginx logs the same
 * status. It is never sent.
 */
export const clientLeftStatus = 499;
