import { describe, expect, it } from 'vitest';
import { Fields } from '../../../../shared/http/message.ts';
import { checkLengthIsGiven } from '../../../../shared/protocol/bodies/announced-body.ts';
import { codeOf } from '../../xml/golden.ts';

describe('the length of an upload', () => {
  it('is given by its number or by chunks', () => {
    checkLengthIsGiven(new Fields([['content-length', '0']]));
    checkLengthIsGiven(new Fields([['transfer-encoding', 'chunked']]));
    expect(codeOf(() => checkLengthIsGiven(new Fields()))).toBe('MissingContentLength');
  });
});
