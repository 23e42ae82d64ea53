import { afterAll } from 'vitest';
import { rememberEnvironment } from './environment.ts';

/** A set-up of files that share a process: none changes the environment of the next one, nor of the programs that the next one starts. */
afterAll(rememberEnvironment());
