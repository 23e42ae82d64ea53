import { startObserved, type Stillage } from './embedded.ts';
import type { StillageOptions } from './options.ts';

export type { Stillage } from './embedded.ts';
export type { ClientConfig } from './client-config.ts';
export type { Fault, FaultKind } from './faults.ts';
export type { InitialKey as StillageCredentials } from '../../shared/command-line/start-options.ts';
export type { LogLine, StillageOptions } from './options.ts';

/**
 * Starts the service in this process. It writes nothing to standard output or standard error, and handles no signals.
 * @throws TypeError for invalid options; Error with a message of one line if the port is in use or the directory cannot be used
 */
export function startStillage(options: StillageOptions = {}): Promise<Stillage> {
  return startObserved(options);
}
