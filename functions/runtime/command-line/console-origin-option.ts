import { InvalidArgumentError, type Option } from 'commander';
import { isOrigin } from '../../../shared/protocol/console/origins.ts';
import { setting } from './setting.ts';

/** Returns the option for further origins of the console. */
export function consoleOriginOption(): Option {
  return setting(
    '--console-origin <origin>',
    'further origin of the console, which may call the API (repeatable)',
    'CONSOLE_ORIGIN',
    [],
  ).argParser((value: string, previous: readonly string[]) => [...previous, ...value.split(',').map(readOrigin)]);
}

function readOrigin(text: string): string {
  const origin = text.trim();
  if (isOrigin(origin)) return origin;
  throw new InvalidArgumentError(
    'Must be an origin such as https://console.example.com: a scheme, a host in lower case, and a port if not the default one.',
  );
}
