// Runs commands of the program one after the other, as test/support/programs/warm-program.ts asks: starting a process for each costs more than
// most of them do.
import { run } from '../../../dist/stillage.mjs';

const inherited = { ...process.env };
const capture = { stdout: process.stdout.write, stderr: process.stderr.write };

/** Does the same as bin/stillage.cjs, without ending the process. */
async function runCommand({ args, env }) {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, inherited, env);
  const output = { stdout: '', stderr: '' };
  for (const name of Object.keys(capture)) {
    process[name].write = (chunk, ...rest) => {
      output[name] += chunk;
      rest.find((argument) => typeof argument === 'function')?.();
      return true;
    };
  }
  process.exitCode = undefined;
  try {
    await run([process.execPath, 'stillage', ...args]);
  } catch (error) {
    console.error(error.name === 'OperatorError' ? `stillage: ${error.message}` : error);
    process.exitCode = error.name === 'OperatorError' ? error.exitCode : 1;
  }
  for (const [name, write] of Object.entries(capture)) process[name].write = write;
  const code = process.exitCode ?? 0;
  process.exitCode = undefined;
  return { code, signal: null, ...output };
}

let queue = Promise.resolve();
process.on('message', ({ id, ...command }) => {
  queue = queue.then(async () => process.send({ id, ended: await runCommand(command) }));
});
process.on('disconnect', () => process.exit());
