import { inputsOf, readers } from '../support/runs/stalls.ts';

/** Measures the maximum duration of each parser of client input, over the largest inputs of the stall test. */
export async function benchStalls(): Promise<void> {
  for (const [name, reader] of Object.entries(readers)) {
    let worst = { milliseconds: 0, input: '' };
    for (const [input, text] of inputsOf(reader, reader.most ?? 8192)) {
      const began = performance.now();
      try {
        await reader.read(text);
      } catch {
        // A refusal must take no longer.
      }
      const milliseconds = performance.now() - began;
      if (milliseconds > worst.milliseconds) worst = { milliseconds, input };
    }
    console.log(`${name.padEnd(26)} ${worst.milliseconds.toFixed(2).padStart(8)} ms   ${worst.input}`);
  }
}
