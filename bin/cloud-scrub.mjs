// The scrub of a cloud deployment. docs/scrub.md
import process from 'node:process';
import { cloudScrub } from '../dist/cloud-scrub.mjs';

cloudScrub(process.argv).catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
