"""What a change edits that can alter a measurement or its judgement, with before and after."""
