/** What came back, as it came. */
export interface Answer {
  status: number;
  /** Names in lower case; of several with one name the first. */
  headers: Readonly<Record<string, string | undefined>>;
  text: string;
  /** The body as JSON; `undefined` when it is none. */
  json: unknown;
}

/** The value at a path of JSON, `items.0.creativeId`; `undefined` where there is none. */
export function at(json: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => {
    return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
      ? value[name as keyof typeof value]
      : undefined;
  }, json);
}

/** A member that is a text; empty where it is none. */
export function textAt(json: unknown, path: string): string {
  const value = at(json, path);
  return typeof value === 'string' ? value : '';
}

/** A member that is an array; empty where it is none. */
export function listAt(json: unknown, path: string): readonly unknown[] {
  const value = path === '' ? json : at(json, path);
  return Array.isArray(value) ? value : [];
}

/** Status and error code: `401 device_key_missing`, or `200`. */
export function said({ status, json }: Answer): string {
  return `${status} ${status >= 400 ? textAt(json, 'code') : ''}`.trim();
}

/** The status alone. */
export const status = (answer: Answer): string => String(answer.status);

/** Several answers, one after another: `200, 200, 202`. */
export const saidAll = (answers: readonly Answer[]): string => answers.map(said).join(', ');

/** With what a 400 complains of: `400 invalid_request at /3/timestamp`; the body as a whole is `the body`. */
export function saidAt(answer: Answer): string {
  const paths = listAt(answer.json, 'errors').map((error) => textAt(error, 'path') || 'the body');
  return paths.length === 0
    ? said(answer)
    : `${said(answer)} at ${[...new Set(paths)].sort().join(', ')}`;
}

/** `refused` for any status from 400 to 499, where the service document does not say which. */
export function refused(answer: Answer): string {
  return answer.status >= 400 && answer.status < 500 ? 'refused (4xx)' : said(answer);
}

/** `accepted` for any status from 200 to 299, where the service document does not say which. */
export function accepted(answer: Answer): string {
  return answer.status >= 200 && answer.status < 300 ? 'accepted (2xx)' : said(answer);
}

/** With whether `existingId` names the record that has the name. */
export const taken = (answer: Answer, id: unknown): string =>
  `${said(answer)}, ${at(answer.json, 'existingId') === id ? 'its id' : 'no id'}`;
