// Build step: writes the summaries of the operations and the descriptions of the members into the
// declarations, where editors show them. Both come from the tables that OpenAPI is made from.
import { readFileSync, writeFileSync } from 'node:fs';
import { operations } from '../dist/wire/operations/operations.js';
import { schemas } from '../dist/wire/schemas.js';

/** Schemas inside a schema that add no level of names. */
function within({ def }) {
  if (def.type === 'lazy') return [def.getter()];
  if (def.type === 'union') return def.options;
  return [def.innerType, def.element, def.valueType, def.in, def.out].filter((one) => one?.def);
}

/** Returns the schema of a member, however the object is wrapped. */
function memberOf(schema, name) {
  if (schema.def.type === 'object') return schema.def.shape[name];
  for (const inner of within(schema)) {
    const member = memberOf(inner, name);
    if (member) return member;
  }
  return undefined;
}

/** Returns the description of a schema, or of the schema that it wraps. */
function descriptionOf(schema) {
  const own = schema.meta()?.description;
  if (own !== undefined || schema.def.type === 'union') return own;
  return schema.def.innerType && descriptionOf(schema.def.innerType);
}

const comment = (indent, text) => `${indent}/** ${text.replaceAll('*/', '* /')} */`;

/**
 * Adds comments to the members of a declared object. `childOf(parent, name)` returns what `textOf`
 * describes, or `undefined` for names that are no members. tsc indents each level by four spaces.
 */
function annotate(path, root, childOf, textOf) {
  const file = new URL(path, import.meta.url);
  const open = [];
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, indent, name] = /^( {4,})"?([\w$]+)"?: /.exec(line) ?? [];
      if (name === undefined) return [line];
      while (open.length > 0 && open.at(-1).indent >= indent.length) open.pop();
      const parent = open.length === 0 ? root : open.at(-1).value;
      const value = parent && childOf(parent, name);
      open.push({ indent: indent.length, value });
      const text = value && textOf(value);
      return text ? [comment(indent, text), line] : [line];
    });
  writeFileSync(file, lines.join('\n'));
}

annotate(
  '../dist/wire/schemas.d.ts',
  schemas,
  (parent, name) => (parent === schemas ? schemas[name] : memberOf(parent, name)),
  descriptionOf,
);
annotate(
  '../dist/wire/operations/operations.d.ts',
  operations,
  (parent, name) => (parent === operations ? operations[name] : undefined),
  ({ summary, method, path }) => `${summary}: \`${method} ${path}\`.`,
);
