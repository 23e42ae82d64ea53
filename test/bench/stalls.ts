import { inputsOf, readers } from '../support/stalls.ts';

/** How long each reader of what clients send takes at most, over the inputs of the stall test at their largest. */
export async function benchStalls(): Promise<void> {
  for (const [name, reader] of Object.entries(readers)) {
    let worst = { milliseconds: 0, input: '' };
    for (const [input, text] of inputsOf(reader, reader.most ?? 8192)) {
      const began = performance.now();
      try {
        await reader.read(text);
      } catch {
        // What is refused is refused in time, too.
      }
      const milliseconds = performance.now() - began;
      if (milliseconds > worst.milliseconds) worst = { milliseconds, input };
    }
    console.log(`${name.padEnd(26)} ${worst.milliseconds.toFixed(2).padStart(8)} ms   ${worst.input}`);
  }
}
