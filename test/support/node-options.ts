/** How the systemd unit and the container image start Node, and why: docs/deployment.md. */
export const unitOptions: readonly string[] = ['--v8-pool-size=1', '--initial-old-space-size=96'];

/** Services run so, and what they are compared with does, too; `BENCH_NODE_OPTIONS=` leaves Node as it is. */
export const nodeOptions =
  process.env.BENCH_NODE_OPTIONS?.split(' ').filter(Boolean) ?? unitOptions;
