// How the bundles are written: without white space and comments, apart from licences. Names stay,
// for stack traces.

export const compact = {
  comments: { legal: true, annotation: false, jsdoc: false },
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
};

/** One CommonJS file. */
export const oneFile = { ...compact, format: 'cjs', codeSplitting: false };

/** Handles the log of a bundler. Throws for an import that the bundle would have to find later. */
export function refuseUnresolved(_level, { code, message }) {
  if (code === 'UNRESOLVED_IMPORT') throw new Error(message);
}
