// Build step: replaces the modules that are derived from the schemas by their values, because
// loading the schemas takes longer than most commands. Runs after tsc.
import { writeFileSync } from 'node:fs';
import { shapes } from '../dist/client/shapes.js';

const file = new URL('../dist/client/shapes.js', import.meta.url);
writeFileSync(file, `export const shapes = ${JSON.stringify(shapes)};\n`);
