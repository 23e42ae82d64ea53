import { build } from '../../bin/build.mjs';

/** The programs are built once before the tests, which start them as a user does. */
export default async function setup(): Promise<void> {
  await build('stillage', 'byte-lane', 'cloud-scrub');
}
