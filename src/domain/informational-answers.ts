/** Servers send one informational answer (1xx), rarely a few. */
const maxInformational = 16;

/** The code of the error of `countInformational`. */
export const tooManyInformational = 'TOO_MANY_INFORMATIONAL';

/**
 * Returns a function to call for each informational answer to one request. Throws beyond the limit:
 * a server may send such answers without end, and HTTP clients read them as fast as they come.
 */
export function countInformational(): () => void {
  let count = 0;
  return () => {
    count++;
    if (count <= maxInformational) return;
    const message = `more than ${maxInformational} informational answers (1xx)`;
    throw Object.assign(new Error(message), { code: tooManyInformational });
  };
}

/** The members of a request of `node:http` that the limit needs. */
interface LimitedRequest {
  on(event: 'information', listener: () => void): unknown;
  destroy(error: Error): unknown;
}

/** Ends a request of `node:http` that gets too many informational answers. */
export function limitInformational<R extends LimitedRequest>(request: R): R {
  const count = countInformational();
  request.on('information', () => {
    try {
      count();
    } catch (error) {
      request.destroy(error as Error);
    }
  });
  return request;
}
