import { hasCode } from '../../domain/error.ts';

/**
 * Whether a service of an earlier version refused a query parameter that it does not know. The
 * caller must know that the value is valid.
 */
export function isUnknownParameter(error: unknown, name: string): boolean {
  return (
    hasCode(error, 'invalid_request') &&
    error.errors?.some(({ path }) => path === `query.${name}`) === true
  );
}
