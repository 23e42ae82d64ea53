import { spawnSync } from 'node:child_process';

/** Runs a command as the first process of a new process namespace, as a container has one. */
export const processNamespace = ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--mount-proc'] as const;

/** The reason why {@link mayProcessNamespace} is false. */
export const noProcessNamespace = 'this machine allows no process namespaces';

/** Whether {@link processNamespace} works on this machine. */
export const mayProcessNamespace =
  spawnSync(processNamespace[0], [...processNamespace.slice(1), 'true'], { stdio: 'ignore' }).status === 0;
