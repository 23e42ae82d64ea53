/** The global teardown of Jest: `globalTeardown: 'stillage/jest/teardown'`. */
export { stopStillage as default } from './jest.ts';
