"""`Worktrees` made real by git's own."""

import os

from iai_mcp import regular_files
from iai_mcp.adapters import git
from iai_mcp.domain.agents.worktrees import CheckoutState, Difference, MergeResult, named
from iai_mcp.domain.errors import Busy, Conflict, InvalidInput, NotFound
from iai_mcp.domain.projects.project import ProjectPath

_LARGEST_DIFF = 1_000_000  # characters
_LONGEST_PATH = 8192
_GITLINK = "160000 "  # the mode of an entry that is a nested repository


class GitWorktrees:
    def workplace(self, project: ProjectPath, path: str) -> str:
        prefix = self._repository(project)
        return os.path.normpath(os.path.join(project.text, path, prefix))

    def prepare(self, project: ProjectPath, path: str, branch: str) -> bool:
        self._repository(project)
        if self._checkout(project, path) is not None:
            return False
        place = os.path.join(project.text, path)
        # One whose directory somebody deleted is still in git's list, and holds its branch.
        git.run(project.text, "worktree", "prune")
        holder = self._checkouts(project).get(branch)
        if holder is not None:
            raise Busy(f"branch '{branch}' is checked out at {holder}: name another one")
        add = ("worktree", "add", "--quiet")
        if self._exists(project, branch):
            git.run(project.text, *add, place, branch)
        else:
            git.run(project.text, *add, "-b", branch, place)
        return True

    def standing(self, project: ProjectPath, path: str, branch: str | None) -> CheckoutState:
        self._repository(project)
        place = self._checkout(project, path)
        heads: list[str] = []
        uncommitted: list[str] = []
        untracked: list[str] = []
        nested: list[str] = []
        if place is not None:
            uncommitted, untracked = _changes(place)
            nested = _nested(place)
            heads.append(git.run(place, "rev-parse", "--verify", "HEAD").stdout.strip())
        others = ["--branches", "--remotes"]
        if branch is not None and self._exists(project, branch):
            heads.append(f"refs/heads/{branch}")
            others.insert(0, f"--exclude={branch}")  # of what --branches stands for
        unmerged = 0
        if heads:
            counted = git.run(project.text, "rev-list", "--count", *heads, "--not", *others, "HEAD")
            unmerged = int(counted.stdout)
        return CheckoutState(tuple(uncommitted), tuple(untracked), unmerged, tuple(nested))

    def difference(self, project: ProjectPath, path: str, into: str | None) -> Difference:
        self._repository(project)
        place = self._checkout(project, path)
        if place is None:
            raise NotFound(
                f"there is no worktree at {project}/{path}: launch its agent, which makes it"
            )
        target = self._target(project, into)
        base = git.run(place, "merge-base", "HEAD", f"refs/heads/{target}").stdout.strip()
        # `dirty`: a gitlink's commit is compared, and git does not start in the nested repository.
        nested = ("--ignore-submodules=dirty", "--submodule=short")
        diff = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", *nested, base)
        count = git.run(place, "rev-list", "--count", f"{base}..HEAD").stdout
        uncommitted, untracked = _changes(place)
        standing = CheckoutState(tuple(uncommitted), tuple(untracked))
        text = git.run(place, *diff).stdout.encode("utf-8", "replace").decode()
        branch = _current_branch(place) or "no branch"
        return Difference(branch, target, int(count), standing, text[:_LARGEST_DIFF])

    def merge(self, project: ProjectPath, path: str, branch: str, into: str | None) -> MergeResult:
        self._repository(project)
        place = self._checkout(project, path)
        if place is not None and (current := _current_branch(place)) != branch:
            raise InvalidInput(
                f"the worktree is on '{current or 'no branch'}' and not on '{branch}': have it go back, "
                "or merge with git what it made there"
            )
        if not self._exists(project, branch):
            raise NotFound(f"there is no branch '{branch}' to merge")
        target = self._target(project, into)
        ours, theirs = f"refs/heads/{target}", f"refs/heads/{branch}"
        count = int(git.run(project.text, "rev-list", "--count", f"{ours}..{theirs}").stdout)
        if count:
            tree = self._merged_tree(project, target, branch)
            checked_out = self._checkouts(project).get(target)
            if checked_out is None:
                self._advance(project, target, branch, tree)
            else:
                _merge_at(self._checkout_at(project, checked_out), target, branch)
        commit = git.run(project.text, "rev-parse", ours).stdout.strip()
        return MergeResult(branch, target, count, commit)

    def remove(self, project: ProjectPath, path: str, branch: str | None) -> None:
        self._repository(project)
        place = self._checkout(project, path)
        if place is not None:
            git.run(project.text, "worktree", "remove", "--force", "--force", place.path)
        git.run(project.text, "worktree", "prune")
        if branch is not None and self._exists(project, branch):
            git.run(project.text, "branch", "--quiet", "-D", "--", branch)

    def _repository(self, project: ProjectPath) -> str:
        """Where in its repository the project is; refuses what has none, or is not to be trusted."""
        if git.run(project.text, "rev-parse", "--git-dir", codes=(0, 128)).returncode:
            raise InvalidInput(f"{project} is in no git repository: 'git init' makes one")
        git.require_harmless(project.text)
        _require_own_directory(project)
        if git.run(project.text, "rev-parse", "--verify", "HEAD", codes=(0, 128)).returncode:
            raise InvalidInput(
                f"the repository of {project} has no commit yet: a worktree needs one to start from"
            )
        return git.run(project.text, "rev-parse", "--show-prefix").stdout.strip("\n")

    def _checkout(self, project: ProjectPath, path: str) -> git.GitCheckout | None:
        """The checkout at `path`; None: there is none.

        One of another repository has that one's configuration: nothing is done there.
        """
        place = os.path.join(project.text, path)
        if not os.path.lexists(os.path.join(place, ".git")):
            return None
        return self._checkout_at(project, place)

    def _checkout_at(self, project: ProjectPath, place: str) -> git.GitCheckout:
        """A checkout of the project's repository, found from the repository's side."""
        common = _common_directory(project.text)
        directory = common if os.path.realpath(place) == os.path.dirname(common) else None
        directory = directory or _linked(common, place)
        if directory is None:
            raise InvalidInput(
                f"{place} is no worktree of this repository: look what it is, and remove it"
            )
        found = git.GitCheckout(place, directory)
        git.require_harmless(found)
        return found

    def _exists(self, project: ProjectPath, branch: str) -> bool:
        words = ("show-ref", "--verify", "--quiet", f"refs/heads/{branch}")
        return git.run(project.text, *words, codes=(0, 1)).returncode == 0

    def _target(self, project: ProjectPath, into: str | None) -> str:
        into = into or _current_branch(project.text)
        if not into:
            raise InvalidInput(f"{project} is on no branch: name one with --into")
        if not self._exists(project, into):
            raise NotFound(f"there is no branch '{into}': 'git branch' shows them")
        return into

    def _checkouts(self, project: ProjectPath) -> dict[str, str]:
        """Which branch is checked out where."""
        found: dict[str, str] = {}
        place = ""
        for line in git.run(project.text, "worktree", "list", "--porcelain", "-z").stdout.split(
            "\0"
        ):
            kind, _, value = line.partition(" ")
            if kind == "worktree":
                place = value
            elif kind == "branch":
                found[value.removeprefix("refs/heads/")] = place
        return found

    def _merged_tree(self, project: ProjectPath, target: str, branch: str) -> str:
        words = ("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z")
        heads = (f"refs/heads/{target}", f"refs/heads/{branch}")
        done = git.run(project.text, *words, *heads, codes=(0, 1))
        tree, *files = done.stdout.split("\0")
        if done.returncode:
            conflicting = named(tuple(dict.fromkeys(file for file in files if file)))
            raise Conflict(
                f"'{branch}' and '{target}' changed the same lines in {conflicting}: nothing was "
                f"merged. Have the agent merge '{target}' into its branch, then try again"
            )
        return tree.strip()

    def _advance(self, project: ProjectPath, target: str, branch: str, tree: str) -> None:
        """Move a branch that nobody has checked out: forward, or to a merge of both."""
        ours, theirs = (
            git.run(project.text, "rev-parse", f"refs/heads/{name}").stdout.strip()
            for name in (target, branch)
        )
        ahead = git.run(project.text, "merge-base", "--is-ancestor", ours, theirs, codes=(0, 1))
        commit = theirs
        if ahead.returncode:
            said = f"Merge branch '{branch}' into {target}"
            words = ("commit-tree", tree, "-p", ours, "-p", theirs, "-m", said)
            commit = git.run(project.text, *words).stdout.strip()
        git.run(project.text, "update-ref", f"refs/heads/{target}", commit, ours)


def _current_branch(at: str | git.GitCheckout) -> str:
    """The branch that is checked out; empty if that is a commit of none."""
    words = ("symbolic-ref", "--quiet", "--short", "HEAD")
    return git.run(at, *words, codes=(0, 1)).stdout.strip()


def _common_directory(at: str) -> str:
    words = ("rev-parse", "--path-format=absolute", "--git-common-dir")
    return os.path.realpath(git.run(at, *words, codes=(0, 128)).stdout.strip("\n"))


def _require_own_directory(project: ProjectPath) -> None:
    """Refuse a `.git` that leads to another project's: that one has to say so, too."""
    top = git.run(project.text, "rev-parse", "--show-toplevel").stdout.strip("\n")
    pointer = os.path.join(top, ".git")
    if os.path.isdir(pointer) and not os.path.islink(pointer):
        return
    directory = git.run(project.text, "rev-parse", "--absolute-git-dir").stdout.strip("\n")
    try:
        with open(os.path.join(directory, "gitdir"), encoding="utf-8", errors="replace") as file:
            back = file.read(8192).strip()
    except OSError:
        back = ""
    if os.path.islink(pointer) or not back or os.path.realpath(back) != os.path.realpath(pointer):
        raise InvalidInput(f"{pointer} leads to a repository elsewhere: work on the project there")


def _linked(common: str, place: str) -> str | None:
    """The directory that a repository keeps for its linked worktree at `place`."""
    wanted = os.path.join(os.path.realpath(place), ".git")
    try:
        names = os.listdir(os.path.join(common, "worktrees"))
    except OSError:
        return None
    for name in names:
        directory = os.path.join(common, "worktrees", name)
        try:
            link = regular_files.read(os.path.join(directory, "gitdir"), _LONGEST_PATH)
        except (OSError, ValueError):
            continue
        back = os.path.join(directory, os.fsdecode(link).strip("\n"))
        if os.path.join(os.path.realpath(os.path.dirname(back)), os.path.basename(back)) == wanted:
            return directory
    return None


def _merge_at(place: git.GitCheckout, target: str, branch: str) -> None:
    """In a checkout: git writes over nothing that is not committed, and then leaves all as it was."""
    words = ("merge", "--quiet", "--no-edit", "--no-stat", "-s", "ort", f"refs/heads/{branch}")
    done = git.run(
        place,
        *words,
        "-m",
        f"Merge branch '{branch}'",
        codes=(0, 1, 2, 128),
        # The repository may choose a strategy, which is a program, or have the merge signed.
        settings={f"branch.{target}.mergeOptions": ""},
    )
    if done.returncode == 0:
        return
    git.run(place, "merge", "--abort", codes=(0, 128))  # there is none to abort unless it began
    raise Busy(f"nothing was merged, git refused: {git.complaint(done)}")


def _changes(place: git.GitCheckout) -> tuple[list[str], list[str]]:
    """Tracked files that are not as they were committed, and files that git does not know."""
    changed: list[str] = []
    unknown: list[str] = []
    words = ("status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=all")
    entries = iter(git.run(place, *words).stdout.split("\0"))
    for entry in entries:
        if not entry:
            continue
        kind, name = entry[:2], _shown(entry[3:])
        if kind[0] in "RC":
            next(entries, None)  # the name it had before
        (unknown if kind == "??" else changed).append(name)
    return changed, unknown


def _nested(place: git.GitCheckout) -> list[str]:
    """Nested repositories that are checked out. Their work may be nowhere else; git is not asked."""
    staged = git.run(place, "ls-files", "--stage", "-z").stdout.split("\0")
    names = [entry.partition("\t")[2] for entry in staged if entry.startswith(_GITLINK)]
    return [_shown(name) for name in names if os.path.lexists(f"{place.path}/{name}/.git")]


def _shown(name: str) -> str:
    return name.encode("utf-8", "replace").decode()
