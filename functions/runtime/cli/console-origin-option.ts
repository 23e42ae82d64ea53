import { InvalidArgumentError, type Option } from 'commander';
import { isOrigin } from '../../../shared/protocol/console/origins.ts';
import { setting } from './setting.ts';

/** The option that says where else the console is opened. */
export function consoleOriginOption(): Option {
  return setting(
    '--console-origin <origin>',
    'the console is opened here, too, and may call the API (repeatable)',
    'CONSOLE_ORIGIN',
    [],
  ).argParser((value: string, previous: readonly string[]) => [...previous, ...value.split(',').map(readOrigin)]);
}

function readOrigin(text: string): string {
  const origin = text.trim();
  if (isOrigin(origin)) return origin;
  throw new InvalidArgumentError(
    'An origin is a scheme, a host in lower case and perhaps a port, such as https://console.example.com',
  );
}
