/** Node options of the systemd unit and the container image. docs/deploy.md gives the reasons. */
export const unitOptions: readonly string[] = ['--v8-pool-size=1', '--initial-old-space-size=96'];

/** Node options of benchmarks. `BENCH_NODE_OPTIONS=` runs Node without options. */
export const nodeOptions =
  process.env.BENCH_NODE_OPTIONS?.split(' ').filter(Boolean) ?? unitOptions;
