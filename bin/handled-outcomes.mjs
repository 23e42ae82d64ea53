// An ESLint rule against writes whose outcome nobody looks at: the answer may have been lost, and the write not have happened.
import typescript from 'typescript';

export const handledOutcomes = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      ignored:
        'The outcome of this write is ignored, and may be unknown. Handle it, or use settled() or bestEffort() of shared/metadata/table/settled.ts.',
    },
  },
  create(context) {
    const { program, esTreeNodeToTSNodeMap } = context.sourceCode.parserServices;
    const checker = program.getTypeChecker();
    const check = (node) => {
      if (!holdsOutcome(checker, checker.getTypeAtLocation(esTreeNodeToTSNodeMap.get(node)))) return;
      context.report({ node, messageId: 'ignored' });
    };
    /** A caller that is promised anything, or nothing, does not look at what it gets. */
    const checkReturned = (node) => {
      const expected = node && checker.getContextualType(esTreeNodeToTSNodeMap.get(node));
      if (expected && isAnything(checker, expected)) check(node);
    };
    return {
      ExpressionStatement: ({ expression }) => check(expression),
      'UnaryExpression[operator="void"]': ({ argument }) => check(argument),
      ReturnStatement: ({ argument }) => checkReturned(argument),
      'ArrowFunctionExpression[expression=true]': ({ body }) => checkReturned(body),
    };
  },
};

/** Returns whether a type is a WriteOutcome (shared/ports/key-value-table.ts) or its `outcome`, or a promise or an array of such. */
function holdsOutcome(checker, type) {
  const value = checker.getNonNullableType(checker.getAwaitedType(type) ?? type);
  if (checker.isArrayType(value) || checker.isTupleType(value)) {
    return checker.getTypeArguments(value).some((one) => holdsOutcome(checker, one));
  }
  const outcome = checker.getPropertyOfType(value, 'outcome');
  return isOutcome(outcome === undefined ? value : checker.getTypeOfSymbol(outcome));
}

function isOutcome(type) {
  const values = type.isUnion() ? type.types.map(({ value }) => value) : [];
  return values.includes('written') && values.includes('unknown');
}

/** Returns whether a type, or what it promises, is `unknown`, `any`, `void` or `undefined`. */
function isAnything(checker, type) {
  const { Any, Unknown, Void, Undefined } = typescript.TypeFlags;
  const parts = type.isUnion() ? type.types : [type];
  return parts.every((one) => ((checker.getAwaitedType(one) ?? one).flags & (Any | Unknown | Void | Undefined)) !== 0);
}
