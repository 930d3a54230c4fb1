// Checks answers of the service against its OpenAPI document.
import { createRequire } from 'node:module';
import { type Operation, operations } from '../../../src/wire/operations/operations.ts';
import type { Answer } from './service.ts';

interface Validator {
  addSchema(schema: object, name: string): void;
  getSchema(reference: string): Compiled | undefined;
  errorsText(errors: unknown): string;
}
type Compiled = ((value: unknown) => boolean) & { errors?: unknown };

// The same validator as in the check of the document itself.
const fromValidator = createRequire(import.meta.resolve('@seriousme/openapi-schema-validator'));
const Ajv: new (options: object) => Validator = fromValidator('ajv/dist/2020.js').default;

const formats = {
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  'date-time': /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/,
  uri: (text: string) => URL.canParse(text),
  'uri-reference': (text: string) => URL.canParse(text, 'https://service.example'),
  ipv4: true,
  ipv6: true,
  int64: true,
  binary: true,
};

/** Operation ids of the paths that are not in the table of operations. */
export const systemOperations: Record<string, string> = {
  '/healthz': 'getHealth',
  '/readyz': 'getReadiness',
  '/metrics': 'getMetrics',
  '/openapi.json': 'getOpenApi',
  '/docs': 'getDocs',
};

const table = Object.entries<Operation>(operations).map(([id, { method, path }]) => ({
  id,
  method,
  path: path.replace(/:(\w+)/g, '{$1}'),
  form: new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`),
  variables: path.split(':').length,
}));
// Literal path segments take precedence over parameters.
table.sort((a, b) => a.variables - b.variables);

export interface Answered {
  /** The operation id. */
  operation: string;
  method: string;
  /** The path in the form of the document: `/v1/venues/{id}`. */
  path: string;
  answer: Pick<Answer, 'status' | 'headers' | 'text' | 'body'>;
}

export type Described = Pick<Answered, 'operation' | 'path'>;

/** Returns the operation of a request, or `undefined` for an unknown path or method. */
export function operationOf(method: string, url: string): Described | undefined {
  const path = url.split('?')[0] ?? '';
  if (systemOperations[path])
    return method === 'GET' ? { operation: systemOperations[path], path } : undefined;
  const found = table.find((one) => one.method === method && one.form.test(path));
  return found && { operation: found.id, path: found.path };
}

/** Headers of HTTP itself, of its framing and of CORS. OpenAPI ignores `Content-Type`. */
const undescribed =
  /^(access-control-.*|connection|content-length|content-type|date|keep-alive|transfer-encoding)$/;

/** Returns the headers that the document must name. With CORS, all answers vary by `Origin`. */
function namesOf(headers: Headers): string[] {
  return [...headers]
    .filter(([name, value]) => !(name === 'vary' && value === 'Origin'))
    .map(([name]) => name)
    .filter((name) => !undescribed.test(name));
}

const escaped = (part: string) => part.replaceAll('~', '~0').replaceAll('/', '~1');
const at = (...parts: string[]) => `doc#/${parts.map(escaped).map(encodeURIComponent).join('/')}`;

/**
 * Returns the description of a response, and its place in the document. `undefined` for a status
 * that the operation does not have.
 */
export function responseIn(
  // biome-ignore lint/suspicious/noExplicitAny: the document is walked as the JSON that it is.
  document: any,
  path: string,
  method: string,
  status: number | string,
) {
  const key = method.toLowerCase();
  const response = document.paths[path][key].responses[status];
  if (response?.$ref === undefined)
    return { response, place: ['paths', path, key, 'responses', String(status)] };
  const name = response.$ref.replace('#/components/responses/', '');
  return {
    response: document.components.responses[name],
    place: ['components', 'responses', name],
  };
}

/** Validates answers and request bodies by the document. */
// biome-ignore lint/suspicious/noExplicitAny: the document is walked as the JSON that it is.
export function describedAnswers(document: any) {
  const ajv = new Ajv({ strict: false, allErrors: true, formats });
  ajv.addSchema(document, 'doc');
  const complaint = (reference: string, value: unknown): string[] => {
    const validate = ajv.getSchema(reference) as Compiled;
    return validate(value) ? [] : [ajv.errorsText(validate.errors)];
  };

  /** Returns the errors of a header. */
  function ofHeader(name: string, headers: Headers): string[] {
    const { required, schema } = document.components.headers[name];
    const value = headers.get(name);
    if (value === null) return required ? [`${name} is missing`] : [];
    const judged = schema.type === 'integer' && /^\d+$/.test(value) ? Number(value) : value;
    return complaint(at('components', 'headers', name, 'schema'), judged).map(
      (why) => `${name}: ${why}`,
    );
  }

  return {
    /** Returns the errors of an answer. */
    complaints({ method, path, answer }: Answered): string[] {
      const { status, headers, text, body } = answer;
      const { response: described, place } = responseIn(document, path, method, status);
      if (!described) return [`${status} is not described`];
      const known = Object.keys(described.headers ?? {});
      const lower = known.map((name) => name.toLowerCase());
      const wrong = [
        ...known.flatMap((name) => ofHeader(name, headers)),
        ...namesOf(headers)
          .filter((name) => !lower.includes(name))
          .map((name) => `the header ${name} is not described`),
      ];
      const type = headers.get('content-type')?.split(';')[0];
      if (!described.content) return text === '' ? wrong : [...wrong, 'it has a body'];
      if (!type || !described.content[type]) return [...wrong, `${type} is not described`];
      if (!/[/+]json$/.test(type)) return wrong;
      return [...wrong, ...complaint(at(...place, 'content', type, 'schema'), body)];
    },

    takesBody: ({ method, path }: Pick<Answered, 'method' | 'path'>): boolean =>
      document.paths[path][method.toLowerCase()].requestBody !== undefined,

    /** Returns the errors of a request body. */
    forbids({ method, path }: Pick<Answered, 'method' | 'path'>, body: unknown): string[] {
      const described = document.paths[path][method.toLowerCase()].requestBody;
      if (body === undefined) return described.required ? ['there must be a body'] : [];
      return complaint(
        at(
          'paths',
          path,
          method.toLowerCase(),
          'requestBody',
          'content',
          'application/json',
          'schema',
        ),
        body,
      );
    },
  };
}

export type DescribedAnswers = ReturnType<typeof describedAnswers>;
