"""Prompts that people say in every project: nothing that was ever said is worth telling with them."""

_TEXT = """
push it|ok push it|please push|push this now|commit and push|now push the branch|go ahead and push it
can you push that?|push everything please|let's push it and open a PR
continue|please continue|continue where you left off|go on|keep going|ok, continue with the next step
carry on please|continue with the plan|yes, go ahead|proceed with the implementation
fix the tests|please fix the failing tests|the tests fail, can you fix them?|make the tests pass
can you fix the failing test?|tests are red, fix them|some tests are failing, have a look
fix all test failures|run the tests and fix what fails|fix the broken tests please
can we add tests for this?|add tests|please add a unit test|can you write tests for that?
let's add a test for it|could you also add some tests?|write a test that covers this
we need tests for this change|add test coverage for this|can we add a simple test?
commit|commit this please|commit the changes|make a commit with a good message
write a commit message and commit|commit everything|can you commit that?|ok, commit it
please commit your work|stage and commit all changes
run the linter|fix the lint errors|lint is failing, please fix|run lint and format|format the code
fix the formatting issues|can you fix the linting problems?|clean up the code a bit
please refactor this|simplify this function
review the changes|can you review this?|review my code|what do you think?|does this look right?
is this correct?|explain this|what does this do?|why is this needed?|how does this work?
open a pull request|create a PR for this|update the readme|update the docs|add some comments
rename this variable|remove the dead code|undo that|revert the last change|try again
"""
GENERIC_PROMPTS = tuple(_TEXT.strip().replace("\n", "|").split("|"))
