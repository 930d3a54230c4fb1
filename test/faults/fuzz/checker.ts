import { errorKinds, type ServiceErrorCode } from '../../../src/wire/errors.ts';
import type { DescribedAnswers } from '../../support/service/described-answers.ts';
import type { Answer } from '../../support/service/service.ts';
import type { FuzzRequest } from './requests.ts';

/** Matches internals that must not be revealed: stacks, files and statements. */
const entrails =
  /\\n\s+at |\.[cm]?[jt]s:\d+|node_modules|\bnode:internal|\b(Type|Range|Reference|Syntax)Error\b|SELECT .* FROM/;

function ofProblem({ status, headers, body, text }: Answer): string[] {
  const wrong: string[] = [];
  if (headers.get('content-type') !== 'application/problem+json')
    return [`an error as ${headers.get('content-type')}`];
  const kind = errorKinds[body?.code as ServiceErrorCode];
  if (kind?.status !== status) wrong.push(`the code ${body?.code} with ${status}`);
  if (body?.status !== status || body?.title !== kind?.title || body?.type !== 'about:blank')
    wrong.push('a problem that does not fit its code');
  if (typeof body?.detail !== 'string' || body.detail === '')
    wrong.push('a problem without detail');
  if (body?.requestId !== headers.get('x-request-id'))
    wrong.push('a requestId that is not the X-Request-Id');
  if ((body?.code === 'invalid_request') !== Array.isArray(body?.errors))
    wrong.push('errors that do not go with the code');
  if (body?.code === 'invalid_request' && body.errors.length === 0)
    wrong.push('a refusal that names nothing');
  if (status === 401 && !headers.get('www-authenticate')?.startsWith('Bearer realm='))
    wrong.push('a 401 without WWW-Authenticate');
  if ((status === 405) !== headers.has('allow'))
    wrong.push('Allow where it does not belong, or the other way round');
  if (entrails.test(text)) wrong.push('it shows how the service is made');
  return wrong;
}

/** Such a member is dropped for every caller (docs/protocol.md §1.1). */
const withoutPrototype = (name: string, value: unknown) =>
  name === '__proto__' ? undefined : value;

/** Returns the accepted body, if there was one. */
function taken({ body }: FuzzRequest): { sent: unknown } | undefined {
  if (body === undefined || body.length === 0) return { sent: undefined };
  try {
    return { sent: JSON.parse(body.toString(), withoutPrototype) };
  } catch {
    return undefined;
  }
}

/**
 * The document gives `duration` one type, which generated clients need. The service validates it in
 * impressions only, and keeps it as sent in other events (docs/protocol.md §2.5).
 */
const unvalidatedDuration = /^(data\/\d+\/duration must be (number,null|>= 0)(, )?)+$/;

/** An accepted body must be allowed by the document, and counted correctly. */
function ofSuccess(request: FuzzRequest, answer: Answer, documented: DescribedAnswers): string[] {
  const { method, described } = request;
  if (!described || method === 'HEAD' || answer.status < 200 || answer.status >= 300) return [];
  if (!documented.takesBody({ method, path: described.path })) return [];
  const found = taken(request);
  if (!found) return ['taken, though it is no JSON'];
  const wrong = documented
    .forbids({ method, path: described.path }, found.sent)
    .filter((why) => !unvalidatedDuration.test(why))
    .map((why) => `taken, though it is forbidden: ${why}`);
  const count = (found.sent as unknown[] | undefined)?.length;
  return described.operation === 'postEvents' && answer.body?.received !== count
    ? [...wrong, `received ${answer.body?.received} of ${count}`]
    : wrong;
}

/** The path may be written as another path, or as none. The document does not cover these codes. */
const outside = ['not_found', 'method_not_allowed', 'malformed_request', 'headers_too_large'];

/** Returns the violations of an answer, by the general rules and by the document. */
export function checkAnswer(
  request: FuzzRequest,
  answer: Answer,
  documented: DescribedAnswers,
): string[] {
  const { method, described } = request;
  const { status, headers, text } = answer;
  const wrong: string[] = [];
  // 501: this service has neither an object store nor an on-demand source.
  if (status >= 500 && status !== 501) wrong.push('the service failed');
  if (!headers.has('x-request-id')) wrong.push('no X-Request-Id');
  if (headers.get('x-content-type-options') !== 'nosniff') wrong.push('no X-Content-Type-Options');
  if (method === 'HEAD') return text === '' ? wrong : [...wrong, 'HEAD has a body'];
  if (status >= 400) wrong.push(...ofProblem(answer));
  if (described && !outside.includes(answer.body?.code))
    wrong.push(...documented.complaints({ ...described, method, answer }));
  return [...wrong, ...ofSuccess(request, answer, documented)];
}
