import { inspect } from 'node:util';
import leven from 'leven';
import type { z } from 'zod';
import { invalidOption, type SignageError } from '../domain/error.ts';

/** The options that a function of the package takes. */
export interface OptionRules<O> {
  /** The function, as messages name it: `serve`. */
  of: string;
  /** Type and range of each option, by its name. */
  shapes: Record<keyof O, z.ZodType>;
  /** Options without a default. Default: none. */
  required?: readonly (keyof O)[];
  /** Options whose values may be secret, so that no message shows them. Default: none. */
  secret?: readonly (keyof O)[];
}

const show = (value: unknown) => inspect(value, { depth: 1, breakLength: 80 });

/** An object literal: no text, list, function, or instance of a class such as `Date`. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Returns the error for a name that is not an option, such as a mistyped one. */
function unknownOption(of: string, unknown: string, known: readonly string[]): SignageError {
  const [nearest = ''] = known.toSorted((a, b) => leven(a, unknown) - leven(b, unknown));
  const hint = leven(nearest, unknown) <= 3 ? ` Did you mean ${nearest}?` : '';
  return invalidOption(`${of} has no option ${JSON.stringify(unknown)}.${hint}`);
}

/** Throws `invalid_option` unless an argument of the function has the shape. */
export function checkArgument(of: string, name: string, shape: z.ZodType, value: unknown): void {
  const issue = shape.safeParse(value).error?.issues[0];
  if (issue) throw invalidOption(`${of}: ${name} ${issue.message}, not ${show(value)}.`);
}

/**
 * Throws `invalid_option` unless `options` is an object with known names only, each of its type and
 * in its range. Names the option, the allowed values and, unless it may be secret, the given value.
 */
export function checkOptions<O extends object>(rules: OptionRules<O>, options: O): void {
  const { of, shapes, required = [], secret = [] } = rules;
  if (!isPlain(options))
    throw invalidOption(
      `${of} takes an object of options, such as { ${Object.keys(shapes)[0]} }, not ${typeof options === 'string' ? 'a text' : show(options)}.`,
    );
  const names = Object.keys(shapes);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined) throw unknownOption(of, unknown, names);
  for (const name of names) {
    const key = name as keyof O;
    const value = options[name];
    if (value === undefined && !required.includes(key)) continue;
    const issue = shapes[key].safeParse(value).error?.issues[0];
    if (!issue) continue;
    const member = [name, ...issue.path].join('.');
    const given = value === undefined || secret.includes(key) ? '' : `, not ${show(value)}`;
    throw invalidOption(
      value === undefined
        ? `${of} needs the option ${name}: it ${issue.message}.`
        : `The option ${member} ${issue.message}${given}.`,
    );
  }
}
