import { afterAll } from 'vitest';

/** A set-up of files that share a process: none changes the environment of the next one, nor of the programs that the next one starts. */
const before = { ...process.env };

afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});
