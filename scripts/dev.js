// Builds, and runs the demo service. `npm run dev` restarts this after each change in src/.
import { spawnSync } from 'node:child_process';

const { status } = spawnSync('npm', ['run', 'build', '--silent'], {
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
if (status === 0) {
  process.argv.push('serve', '--demo', ...process.argv.splice(2));
  await import('../bin/signage.js');
} else {
  process.exitCode = 1;
}
