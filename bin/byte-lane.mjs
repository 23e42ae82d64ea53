// A server of the byte lane: its settings come from the environment. docs/cloud.md
import process from 'node:process';
import { startByteLane } from '../dist/byte-lane.mjs';

startByteLane(process.env).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
