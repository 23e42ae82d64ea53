import fc from 'fast-check';
import { inject } from 'vitest';

/** A set-up of every file: each property starts from the seed of the run. */
fc.configureGlobal({ seed: inject('propertySeed') });
