/** A response, before an adapter sends it. */
export interface Answer {
  status: number;
  /** All headers but `Content-Type`. */
  headers: Readonly<Record<string, string>>;
  /** Content type of the body, if there is one. */
  type: string;
  body: string | Uint8Array | ReadableStream | null;
}

/** Receives the answer of a request, once. */
export interface AnswerReceiver {
  send(answer: Answer): void;
  fail(error: unknown): void;
}

/**
 * An answer that comes after a wait. A pending promise would take more memory than the rest of a
 * held request, because all callers up to the connection would wait for it.
 */
export interface HeldAnswer {
  /**
   * Begins the wait. Returns a function that gives the wait up, and returns whether it still
   * lasted.
   */
  hold(receiver: AnswerReceiver): () => boolean;
}

/**
 * Status in log and metrics of a held request whose client disconnected, as nginx logs it. It is
 * never sent.
 */
export const clientLeftStatus = 499;
