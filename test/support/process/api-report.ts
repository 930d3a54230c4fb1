import { existsSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

type Statement = ReturnType<typeof parseSync>['program']['body'][number];

/** A declaration, by its file and the name that it has there. */
interface Found {
  module: Module;
  name: string;
}

/** One file of declarations. */
interface Module {
  path: string;
  text: string;
  /** Declarations without `export`, by name. */
  declarations: Map<string, { start: number; end: number; node: Statement }[]>;
  /** Imports and exports from other files, by local and by exported name. */
  imports: Map<string, { from: string; name: string }>;
  exports: Map<string, { from?: string; name: string }>;
  /** Files of `export * from`. */
  stars: string[];
}

/** The public surface of one entry point. */
export interface ApiReport {
  /** Exported names with their declarations, without comments, sorted by name. */
  text: string;
  /** The exported declarations: `Name (file)`. */
  exported: string[];
  /** Declarations that the exported ones refer to. */
  needed: string[];
}

const nameOf = (node: { type: string; name?: string; value?: unknown }) =>
  node.type === 'Literal' ? String(node.value) : String(node.name);

function readModule(path: string): Module {
  const text = readFileSync(path, 'utf8');
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const module: Module = {
    path,
    text,
    declarations: new Map(),
    imports: new Map(),
    exports: new Map(),
    stars: [],
  };
  const declare = (node: Statement) => {
    const names =
      node.type === 'VariableDeclaration'
        ? node.declarations.map(({ id }) => (id.type === 'Identifier' ? id.name : ''))
        : 'id' in node && node.id && 'name' in node.id
          ? [node.id.name]
          : [];
    for (const name of names)
      module.declarations.set(name, [
        ...(module.declarations.get(name) ?? []),
        { start: node.start, end: node.end, node },
      ]);
    return names;
  };
  for (const node of program.body) {
    if (node.type === 'ImportDeclaration')
      for (const one of node.specifiers)
        module.imports.set(one.local.name, {
          from: node.source.value,
          name: one.type === 'ImportSpecifier' ? nameOf(one.imported) : '*',
        });
    else if (node.type === 'ExportNamedDeclaration') {
      for (const one of node.specifiers)
        module.exports.set(nameOf(one.exported), {
          name: nameOf(one.local),
          ...(node.source && { from: node.source.value }),
        });
      if (node.declaration)
        for (const name of declare(node.declaration as Statement))
          module.exports.set(name, { name });
    } else if (node.type === 'ExportAllDeclaration') module.stars.push(node.source.value);
    else declare(node);
  }
  return module;
}

/** Returns the types that a declaration refers to. The body of a private member is not public. */
function references({ text }: Module, node: Statement): string[] {
  const names = new Set<string>();
  const own = new Set<string>();
  const add = (name: { type: string }) => {
    if (name.type === 'Identifier') names.add((name as unknown as { name: string }).name);
  };
  new Visitor({
    TSTypeParameter: ({ name }) => void own.add(name.name),
    TSTypeReference: ({ typeName }) => add(typeName),
    TSInterfaceHeritage: ({ expression }) => add(expression),
    TSClassImplements: ({ expression }) => add(expression),
    ClassDeclaration: ({ superClass }) => void (superClass && add(superClass)),
    TSMappedType: ({ key }) => void own.add(key.name),
  } as ConstructorParameters<typeof Visitor>[0]).visit({
    type: 'Program',
    body: [node],
    sourceType: 'module',
    hashbang: null,
    comments: [],
    start: 0,
    end: text.length,
  } as never);
  return [...names].filter((name) => !own.has(name));
}

/** Reads the public surface of an entry point from its file of declarations. */
export function apiReport(entry: string): ApiReport {
  const modules = new Map<string, Module>();
  const moduleAt = (path: string): Module => {
    const module = modules.get(path) ?? readModule(path);
    modules.set(path, module);
    return module;
  };
  const follow = ({ path }: Module, specifier: string) => {
    const target = resolve(dirname(path), specifier).replace(/\.[jt]s$/, '.d.ts');
    return existsSync(target) ? moduleAt(target) : undefined;
  };

  /** Returns where an exported name is declared. `undefined`: in a package. */
  function exported(module: Module, name: string): Found | undefined {
    const link = module.exports.get(name);
    if (!link) {
      const files = module.stars.map((star) => follow(module, star));
      return files.map((file) => file && exported(file, name)).find((found) => found);
    }
    if (link.from === undefined) return local(module, link.name);
    const target = follow(module, link.from);
    return target && exported(target, link.name);
  }

  /** The same for a name within a file. `undefined` also for a global name. */
  function local(module: Module, name: string): Found | undefined {
    if (module.declarations.has(name)) return { module, name };
    const link = module.imports.get(name);
    const target = link && link.name !== '*' ? follow(module, link.from) : undefined;
    return target && link && exported(target, link.name);
  }

  const top = moduleAt(entry);
  const namesOf = (module: Module): string[] => [
    ...module.exports.keys(),
    ...module.stars.flatMap((star) => namesOf(follow(module, star) as Module)),
  ];
  const names = namesOf(top).sort();
  const key = ({ module, name }: Found) => `${name} (${relative(process.cwd(), module.path)})`;
  const isPublic = new Set<string>();
  const lines: string[] = [];
  const needed = new Set<string>();
  for (const name of names) {
    const found = exported(top, name);
    if (!found) throw new Error(`${entry}: the declaration of ${name} was not found.`);
    isPublic.add(key(found));
    const { module } = found;
    for (const { start, end, node } of module.declarations.get(found.name) ?? []) {
      const text = withoutComments(module.text.slice(start, end));
      lines.push(name === found.name ? text : `// ${name}:\n${text}`);
      for (const one of references(module, node)) {
        const target = local(module, one);
        if (target) needed.add(key(target));
      }
    }
  }
  return {
    text: `${lines.join('\n')}\n`,
    exported: [...isPublic].sort(),
    needed: [...needed].sort(),
  };
}

function withoutComments(text: string): string {
  return text.replaceAll(/[ \t]*\/\*\*[\s\S]*?\*\/\n?/g, '').replaceAll(/\n\s*\n/g, '\n');
}
