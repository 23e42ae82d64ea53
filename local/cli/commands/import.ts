import type { Command } from 'commander';
import { option } from '../../../shared/command-line/option.ts';
import { bucketName } from '../../../shared/command-line/option-values.ts';
import { s3Address } from '../../../shared/command-line/s3-address.ts';
import { importData } from '../../server/moving/import-data.ts';
import type { Named } from '../command.ts';
import { moveCommand } from '../moving.ts';
import * as operand from '../operands.ts';

/** Returns `stillage import`. */
export function commandLine(named: Named): Command {
  return moveCommand({
    ...named,
    other: [
      '<source>',
      's3://bucket?endpoint=https://s3.example.com&region=us-east-1; without a bucket: all',
      s3Address,
    ],
    options: [
      option('--project <project>', 'owner of the buckets that are not there yet', operand.project[2]),
      option('--bucket <name>', 'name of the bucket here, if it is another', bucketName),
    ],
    examples: [
      "import 's3://photos?endpoint=https://minio.example.com' --project shop@acme",
      "import 's3://?endpoint=https://rgw.example.com' --project shop@acme --rate 50MiB --json",
    ],
    move: importData,
  });
}
